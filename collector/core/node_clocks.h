// SPDX-License-Identifier: Apache-2.0
/*
 * node_clocks.h - the wall clocks of the nodes that were heard lately, and their median.
 *
 * A HELLO says the time of a node; a batch says that its clock is not behind the batch. Batches
 * that waited in a spool are older, so the latest time of the last five to ten minutes counts. In
 * between, a clock runs on by the monotonic clock of this host. For one thread.
 */
#pragma once

#include "lib/base/base.h"

struct node_clocks;

struct node_clocks *node_clocks_new(void);
void node_clocks_free(struct node_clocks *c); /* NULL is fine */

void node_clocks_hear(struct node_clocks *c, uint64_t node, uint64_t wall_ns, uint64_t mono_ns,
		      bool hello);
/* Wall time in ns; 0: no node was heard in the last ten minutes. */
uint64_t node_clocks_median(struct node_clocks *c, uint64_t mono_ns);

DEFINE_AUTO(struct node_clocks *, node_clocks_free)

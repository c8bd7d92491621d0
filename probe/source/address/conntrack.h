// SPDX-License-Identifier: Apache-2.0
/*
 * conntrack.h - the TCP connections whose addresses the kernel translates, from its table of all
 * that it tracks: of the probe's own network namespace by netlink, which leaves the others out
 * itself; of another one, which a socket would have to be made in, by /proc/PID/net/nf_conntrack.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/source/address/nat.h"

/*
 * How many are tracked; none are where nothing asks for it. -EPERM: that takes CAP_NET_ADMIN;
 * -EOPNOTSUPP: this kernel cannot tell them.
 */
int conntrack_own(struct nat *n, struct buf *text, const char *procfs,
		    uint32_t *tracked) MUST_CHECK;

/* who: a process in it. One with more connections than are worth a look is counted as left out. */
void conntrack_of(struct nat *n, struct buf *text, const char *procfs, const char *who,
		    uint64_t netns);

/* What is read by these, for who has it already. -EOPNOTSUPP, -EPERM, -EBADMSG; 1: more follows. */
int conntrack_message(struct nat *n, const void *data, size_t len);
void conntrack_line(struct nat *n, const char *line, size_t len, uint64_t netns);

// SPDX-License-Identifier: Apache-2.0
/*
 * evidence.h - the long waits of the last 30 seconds, kept until a request turns out abnormal.
 *
 * Bounded: the oldest goes first, and what went before its 30 seconds were over is counted. The
 * memory is touched only as far as there ever were waits.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/wire/item.h"

enum { EVIDENCE_BLOCKS = 7680 }; /* with their indices 4 MiB */
#define EVIDENCE_KEPT_NS (30 * 1000000000ull)

struct evidence;

struct evidence *evidence_new(void);
void evidence_free(struct evidence *e);
void evidence_push(struct evidence *e, const struct req_block *b);
uint64_t evidence_pushed_out(const struct evidence *e);

/* One wait; what was told in pieces is together again. Valid until the next push. */
struct evidence_wait {
	const struct req_block *block; /* its longest piece */
	uint64_t start_ns, end_ns, off_ns;
	uint64_t ns; /* of off_ns, within the request */
	bool own; /* it was the request that waited, not what came before it */
};

struct evidence_found {
	uint32_t n;
	struct evidence_wait wait[ITEM_MAX_EVIDENCE]; /* the longest first */
	const struct req_block
		*longest[PART_END]; /* of its own; NULL: none. Of RUNQ, for the worst */
};

/*
 * What belongs to a request that arrived at that time: the waits of threads while they worked on
 * it, and of the thread that read it while it was not read yet, whatever that worked on.
 */
void evidence_find(const struct evidence *e, const struct req_head *h, uint64_t arrival_ns,
		   struct evidence_found *out);

DEFINE_AUTO(struct evidence *, evidence_free)

// SPDX-License-Identifier: Apache-2.0
/*
 * evidence.h - the long waits of the last 30 seconds, stored until a request turns out abnormal.
 *
 * Bounded: the oldest wait is dropped first; waits dropped before their 30 seconds are counted.
 * Only memory that was ever needed is touched.
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

/* One wait; pieces reported separately are merged. Valid until the next push. */
struct evidence_wait {
	const struct req_block *block; /* its longest piece */
	uint64_t start_ns, end_ns, off_ns;
	uint64_t ns; /* of off_ns, within the request */
	bool own; /* the request itself waited, not work before it */
};

struct evidence_found {
	uint32_t n;
	struct evidence_wait wait[ITEM_MAX_EVIDENCE]; /* longest first */
	/* The longest own wait of each part, or NULL; of RUNQ: of the process that held the CPU
	 * most. */
	const struct req_block *longest[PART_END];
};

/*
 * Finds the waits that belong to a request that arrived at arrival_ns: waits of threads while they
 * worked on it, and all waits of the thread that read it while it was still unread.
 */
void evidence_find(const struct evidence *e, const struct req_head *h, uint64_t arrival_ns,
		   struct evidence_found *out);

DEFINE_AUTO(struct evidence *, evidence_free)

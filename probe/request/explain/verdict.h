// SPDX-License-Identifier: Apache-2.0
/*
 * verdict.h - the reason of an abnormal request, and what was looked for besides.
 *
 * What failed is told first (verdict.c). For what was slow it is the part of its time that is the
 * furthest over what is usual of that part on its route, its noise taken off; and it must reach
 * half of the excess, or nothing is claimed (verdict_slow.c). A rule is one function; what it
 * claims stands above it in plain words.
 */
#pragma once

#include "probe/request/judge/breakdown.h"
#include "probe/request/judge/part_baseline.h"

/* Who was it, of the longest wait of a part. NULL: not known. */
struct culprit {
	const char *call, *file, *dev, *who, *cgroup;
};

struct verdict_facts { /* what is known besides the item */
	struct breakdown split; /* as judged */
	const struct part_baseline_part *usual; /* [part] of the route */
	uint64_t up_normal_us; /* where usual knows nothing of upstreams yet */
	struct req_net net, up_net;
	bool unwatched; /* the scheduler is not */
	bool no_clock; /* when something arrived is not known */
	bool lossy; /* the kernel had to drop records at that time */
	bool alone, unseen; /* its sockets told nothing of it; or not of all its calls */
	bool accept_known, accept_full; /* whether the accept queue overflowed */
	struct culprit culprit[PART_END];
};

struct verdict_text { /* room for the texts that params point to */
	char addr[ADDR_TEXT];
	char error[96];
};

/* queueTime and requestTime, or of one judged by its first byte the time to that. */
uint64_t item_judged_us(const struct request_item *r);
bool item_failed(const struct request_item *r); /* status >= 500, or no answer at all */
uint64_t item_upstream_us(const struct request_item *r); /* of that, the sum over the tries */

/* Fills reason and params. */
void verdict_find(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t);

/*
 * Fills checks, after verdict_find: each cause that was looked for and makes up less than a tenth
 * of the excess, and each that could not be looked for. What is in between is in neither.
 */
void verdict_check(struct request_item *r, const struct verdict_facts *f);

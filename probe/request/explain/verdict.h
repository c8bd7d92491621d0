// SPDX-License-Identifier: Apache-2.0
/*
 * verdict.h - the reason for an abnormal request, and the causes that were checked besides.
 *
 * Failures come first (verdict.c). For a slow request, the reason is the part whose time most
 * exceeds its usual time on that route, after allowing for that part's usual variation. The part
 * must reach half of the excess, or the reason is unknown (verdict_slow.c). Each rule is one
 * function; the comment above it says when the rule gives its reason.
 */
#pragma once

#include "probe/request/judge/breakdown.h"
#include "probe/request/judge/part_baseline.h"

/* Names for the longest wait of a part. NULL: not known. */
struct culprit_names {
	const char *call, *file, *dev, *who, *cgroup;
};

struct verdict_facts { /* facts besides the item */
	struct breakdown split; /* as judged */
	const struct part_baseline_part *usual; /* [part] of the route */
	uint64_t up_normal_us; /* for upstreams, until usual knows them */
	struct req_net net, up_net;
	bool unwatched; /* the scheduler is not traced */
	bool no_clock; /* arrival times are not known */
	bool lossy; /* the kernel dropped records at that time */
	bool alone; /* its sockets reported nothing of it */
	bool unseen; /* its sockets did not report all of its calls */
	bool dropped; /* its process closed the connection, and went on */
	const struct up_item *peer; /* by another protocol than HTTP; NULL: none */
	const struct req_peer *peer_did; /* set with peer */
	bool accept_known, accept_full; /* whether the accept queue overflowed */
	struct culprit_names culprit[PART_END];
};

struct verdict_text { /* storage for the texts of params */
	char addr[ADDR_TEXT];
	char error[96];
	char outcome[96];
};

/* Fills reason and params. */
void verdict_find(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t);

/*
 * Fills checks; call after verdict_find. Lists each checked cause that makes up less than a tenth
 * of the excess (ruled out), and each cause that could not be checked. A cause that accounts for
 * a tenth or more of the excess, but is not the reason, is not listed.
 */
void verdict_check(struct request_item *r, const struct verdict_facts *f);

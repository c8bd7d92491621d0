// SPDX-License-Identifier: Apache-2.0
/*
 * explain.h - why a request was abnormal: joins the split of its time, the evidence of that moment
 * and the verdict, and gives each number its name.
 */
#pragma once

#include "probe/request/judge/detect.h"
#include "probe/request/explain/evidence.h"
#include "probe/core/sink.h"

struct explain;

struct explain *explain_new(const char *procfs, const char *sysfs);
void explain_free(struct explain *x);

void explain_block(struct explain *x, const struct req_block *b); /* keeps it, for what comes */
void explain_stack(struct explain *x, const struct req_stack *s); /* so, too */

/* Any request, normal ones too: where it was served. */
void explain_seen(struct explain *x, const struct req_head *h);

struct explain_context {
	int64_t wall_minus_mono_ns;
	bool unwatched; /* the scheduler is not */
	bool no_clock; /* arrival times are not known yet */
	bool lossy; /* records were lost lately */
	bool alone, unseen; /* the sockets told nothing of it; or not of all its calls */
};

/*
 * Fills reason, params, shares, checks, losses and evidence of an abnormal request. The texts are
 * valid until the next call.
 */
void explain_request(struct explain *x, const struct req_head *h, const struct breakdown *split,
		     const struct judged *j, const struct explain_context *c,
		     struct request_item *r);

/* A little of what takes longer: tells the stacks that requests have named. */
void explain_step(struct explain *x, struct sink *out);
bool explain_waits(const struct explain *x); /* there is more for it */

uint64_t explain_pushed_out(const struct explain *x); /* waits that found no room for 30 s */

DEFINE_AUTO(struct explain *, explain_free)

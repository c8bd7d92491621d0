// SPDX-License-Identifier: Apache-2.0
/*
 * explain.h - why a request was abnormal: joins its time breakdown, the evidence of that moment and
 * the verdict, and resolves numbers to names.
 */

#include "probe/request/judge/detect.h"
#include "probe/request/explain/evidence.h"
#include "probe/core/sink.h"

struct explain;

struct explain *explain_new(const char *procfs, const char *sysfs);
void explain_free(struct explain *x);

void explain_block(struct explain *x, const struct req_block *b); /* stores it as evidence */
void explain_stack(struct explain *x, const struct req_stack *s); /* stores it as evidence */

/* Notes where a request was served; called for normal requests too. */
void explain_seen(struct explain *x, const struct req_head *h);

struct explain_context {
	int64_t wall_minus_mono_ns;
	bool unwatched; /* the scheduler is not traced */
	bool no_clock; /* arrival times are not known yet */
	bool lossy; /* records were lost recently */
	bool alone, unseen; /* the sockets reported nothing of it; or not all of its calls */
	const struct up_item *peer; /* by another protocol than HTTP; NULL: none */
	const struct req_peer *peer_did; /* set with peer */
};

/*
 * Fills reason, params, shares, checks, losses and evidence of an abnormal request. The texts stay
 * valid until the next call.
 */
void explain_request(struct explain *x, const struct req_head *h, const struct breakdown *split,
		     const struct judged *j, const struct explain_context *c,
		     struct request_item *r);

/* Does a little of the slow work: sends the stacks that requests refer to. */
void explain_step(struct explain *x, struct sink *out);
bool explain_waits(const struct explain *x); /* explain_step has more to do */

uint64_t explain_pushed_out(const struct explain *x); /* waits dropped before their 30 s */

DEFINE_AUTO(struct explain *, explain_free)

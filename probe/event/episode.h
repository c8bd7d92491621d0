// SPDX-License-Identifier: Apache-2.0
/*
 * episode.h - when waiting is more than this node's usual, and when that is over. No system calls.
 *
 * A share (0 to 1: of the time, something waited) is stepped in at every look. An episode opens
 * when the share has been half of a limit for OPEN_NS without a pause and is at the limit on
 * average; it ends when it has been below half of it for a while. The limit is a floor, or
 * twice what is usual here, whichever is higher: a slow estimate of the 95th
 * percentile, taught by 10 s means. What happens in an episode teaches it nothing before that has
 * lasted for a day; then it is the usual.
 *
 * One that comes back soon is the same one again, and each time it is waited for twice as long
 * before it is over again: what flickers is one event.
 */
#pragma once

#include "lib/base/base.h"

enum episode_is {
	EPISODE_NOTHING, /* or nothing new */
	EPISODE_OPENS, /* for the first time */
	EPISODE_AGAIN, /* the last one is back */
	EPISODE_GOES_ON, /* it is time to tell of it again */
	EPISODE_ENDS,
};

struct episode {
	double floor;
	double usual, mean; /* learnt; of the last second or so */
	double sum_s, learn_s; /* what is to be learnt next: waited, of so long */
	uint64_t known_ns; /* the last share was up to then; 0: none */
	uint64_t high_ns; /* half of the limit and more since then; 0: less */
	double high_waited_s, high_of_s; /* since then */

	bool open;
	double limit; /* as it was when it opened */
	uint64_t start_ns, last_high_ns; /* what is told of it: from, to */
	uint64_t open_ns, low_ns; /* this time; below half of the limit since then, or 0 */
	uint64_t ended_ns; /* when that was said; 0: there was none */
	uint64_t tell_ns; /* when it is told again */
	uint32_t tellings; /* this time */
	double waited_s, of_s; /* of it: waited, of so long */
	uint32_t times, told; /* how often it was back; tellings, this one included */
};

void episode_init(struct episode *e, double floor);
double episode_limit(const struct episode *e); /* above 1: no share is unusual here */
/* share: since the last step; NaN: there is something, and how much is to be said later. */
enum episode_is episode_step(struct episode *e, double share, uint64_t now_ns);

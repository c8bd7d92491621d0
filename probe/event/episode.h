// SPDX-License-Identifier: Apache-2.0
/*
 * episode.h - detects episodes of waiting above this node's usual level. No system calls.
 *
 * Each step takes a share (0 to 1): the part of the time in which something waited. An episode
 * opens when the share has stayed above half of the limit for OPEN_NS and its average reaches the
 * limit. It ends when the average has stayed below half of the limit for a while. The limit is the
 * floor or twice the usual share, whichever is higher. The usual share is a slow estimate of the
 * 95th percentile, learnt from 10 s means. It does not learn during an episode, unless the episode
 * lasts for a day: then its level becomes the usual one.
 *
 * An episode that returns soon is the same episode. Each time it takes twice as long below half of
 * the limit to end it, so that flickering is one event.
 */
#pragma once

#include "lib/base/base.h"

enum episode_is {
	EPISODE_NOTHING, /* nothing to report */
	EPISODE_OPENS, /* a new episode */
	EPISODE_REOPENS, /* the last one has returned */
	EPISODE_GOES_ON, /* an update is due */
	EPISODE_ENDS,
};

struct episode {
	double floor;
	double usual, mean; /* the learnt share; the share of the last second or so */
	double sum_s, learn_s; /* to be learnt next: time waited, and the time it is a part of */
	uint64_t known_ns; /* end of the interval of the last share; 0: none yet */
	uint64_t high_ns; /* at least half of the limit since then; 0: it is below */
	double high_waited_s, high_of_s; /* since high_ns: time waited, time passed */

	bool open;
	double limit; /* at the opening */
	uint64_t start_ns, last_high_ns; /* start and end to report */
	uint64_t open_ns, low_ns; /* last opening; below half of the limit since then, or 0 */
	uint64_t ended_ns; /* when the end was reported; 0: never */
	uint64_t report_ns; /* the next update is due */
	uint32_t reports_open; /* reports since the last opening */
	double waited_s, of_s; /* in the episode: time waited, time passed */
	uint32_t times, reports; /* openings; reports in all, including the current one */
};

void episode_init(struct episode *e, double floor);
double episode_limit(const struct episode *e); /* above 1: every share is usual here */
/* share: since the last step; NaN: something waits, but the share is known only later. */
enum episode_is episode_step(struct episode *e, double share, uint64_t now_ns);

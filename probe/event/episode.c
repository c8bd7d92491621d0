// SPDX-License-Identifier: Apache-2.0
#include "probe/event/episode.h"

#include <math.h>

#include "probe/event/event_interval.h"

#define S 1000000000ull
#define OPEN_NS (S * 14 / 10)
#define QUIET_NS (5 * S) /* before the first end; doubled at each reopening */
#define REOPEN_NS (300 * S) /* an episode that returns within this time is the same one */
#define DAY_NS (86400 * S)
#define NEVER 2.0

enum { LEARN_S = 10, QUIET_DOUBLED = 5, ALWAYS_PCT = 85, CEILING_PCT = 95 };

static const double tau_s = 1; /* time constant of the mean */
static const double up = 0.0019, down = 0.0001; /* 19 to 1: settles at the 95th percentile */

void episode_init(struct episode *e, double floor)
{
	*e = (struct episode){ .floor = floor };
}

double episode_limit(const struct episode *e)
{
	double limit = fmin(e->usual * 2, CEILING_PCT / 100.0);

	if (e->open)
		return e->limit;
	if (e->usual > ALWAYS_PCT / 100.0)
		return NEVER;
	return fmax(e->floor, limit);
}

static void learn(struct episode *e, double share, double s)
{
	double mean;

	e->sum_s += share * s;
	e->learn_s += s;
	if (e->learn_s < LEARN_S)
		return;
	mean = e->sum_s / e->learn_s;
	if (mean > e->usual)
		e->usual = fmin(e->usual + up, mean);
	else
		e->usual = fmax(e->usual - down, mean);
	e->sum_s = e->learn_s = 0;
}

static enum episode_is open_episode(struct episode *e, uint64_t now_ns)
{
	bool reopens = e->ended_ns && now_ns - e->ended_ns < REOPEN_NS;

	if (!reopens) {
		e->start_ns = e->high_ns;
		e->waited_s = e->of_s = 0;
		e->reports = e->times = 0;
	}
	e->limit = episode_limit(e);
	e->open = true;
	e->open_ns = e->high_ns;
	e->last_high_ns = now_ns;
	e->low_ns = 0;
	e->reports_open = 1;
	e->report_ns = now_ns + event_interval_ns(e->reports_open);
	e->waited_s += e->high_waited_s;
	e->of_s += e->high_of_s;
	e->times++;
	e->reports++;
	return reopens ? EPISODE_REOPENS : EPISODE_OPENS;
}

static enum episode_is end_episode(struct episode *e, uint64_t now_ns)
{
	e->open = false;
	e->high_ns = 0;
	e->ended_ns = now_ns;
	e->sum_s = e->learn_s = 0;
	e->reports++;
	return EPISODE_ENDS;
}

static uint64_t quiet_ns(const struct episode *e)
{
	uint32_t doubled = e->times - 1;

	return QUIET_NS << (doubled < QUIET_DOUBLED ? doubled : QUIET_DOUBLED);
}

static enum episode_is continue_episode(struct episode *e, double share, double s, uint64_t now_ns)
{
	if (share >= e->limit / 2) {
		e->last_high_ns = now_ns;
		e->waited_s += share * s;
		e->of_s += s;
	}
	if (e->mean >= e->limit / 2)
		e->low_ns = 0;
	else if (!e->low_ns)
		e->low_ns = now_ns;
	if (now_ns - e->open_ns >= DAY_NS) { /* this level is usual now */
		e->usual = e->mean;
		return end_episode(e, now_ns);
	}
	if (e->low_ns && now_ns - e->low_ns >= quiet_ns(e))
		return end_episode(e, now_ns);
	if (now_ns < e->report_ns)
		return EPISODE_NOTHING;
	e->report_ns = now_ns + event_interval_ns(++e->reports_open);
	e->reports++;
	return EPISODE_GOES_ON;
}

static void add_high(struct episode *e, double share, double s, uint64_t from_ns)
{
	if (!e->high_ns)
		e->high_ns = from_ns;
	if (e->high_ns == from_ns)
		e->high_waited_s = e->high_of_s = 0;
	e->high_waited_s += share * s;
	e->high_of_s += s;
}

enum episode_is episode_step(struct episode *e, double share, uint64_t now_ns)
{
	uint64_t from_ns = e->known_ns ? e->known_ns : now_ns;
	double s = (double)(now_ns - from_ns) / 1e9;
	double limit = episode_limit(e);

	if (isnan(share)) {
		if (!e->high_ns)
			e->high_ns = from_ns;
		return EPISODE_NOTHING;
	}
	e->known_ns = now_ns;
	e->mean += (share - e->mean) * (1 - exp(-s / tau_s));
	if (e->open)
		return continue_episode(e, share, s, now_ns);
	learn(e, share, s);
	if (share < limit / 2) {
		e->high_ns = 0;
		return EPISODE_NOTHING;
	}
	add_high(e, share, s, from_ns);
	if (now_ns - e->high_ns < OPEN_NS || e->mean < limit)
		return EPISODE_NOTHING;
	return open_episode(e, now_ns);
}

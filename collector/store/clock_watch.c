// SPDX-License-Identifier: Apache-2.0
#include "collector/store/clock_watch.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/core/node_clocks.h"

#define SEC 1000000000ull

static const uint64_t READ_NS = 2 * SEC;

enum { DAY_S = 86400 };

struct clock_watch {
	struct node_clocks *nodes;
	struct clock_hold hold;
	int64_t database_ahead_ns; /* PostgreSQL's wall clock minus this host's monotonic one */
	int64_t past_s, newest_s;
	uint64_t due_ns;
};

struct clock_watch *clock_watch_new(void)
{
	struct clock_watch *w = calloc(1, sizeof(*w));

	if (!w)
		die("out of memory");
	w->nodes = node_clocks_new();
	return w;
}

void clock_watch_free(struct clock_watch *w)
{
	if (!w)
		return;
	node_clocks_free(w->nodes);
	free(w);
}

void clock_watch_hear(struct clock_watch *w, uint64_t node, uint64_t wall_ns, bool hello)
{
	node_clocks_hear(w->nodes, node, wall_ns, clock_mono_ns(), hello);
}

uint64_t clock_watch_database_ns(const struct clock_watch *w)
{
	return clock_mono_ns() + (uint64_t)w->database_ahead_ns;
}

static struct clock_times times(const struct clock_watch *w)
{
	return (struct clock_times){
		.collector_s = (int64_t)(clock_wall_ns() / SEC),
		.database_s = (int64_t)(clock_watch_database_ns(w) / SEC),
		.nodes_s = (int64_t)(node_clocks_median(w->nodes, clock_mono_ns()) / SEC),
		.past_s = w->past_s,
		.newest_s = w->newest_s,
	};
}

static void log_fault(const struct clock_watch *w, const struct clock_times *t)
{
	static const struct {
		const char *cause, *todo;
	} texts[CLOCK_FAULT_END] = {
		[CLOCK_DATABASE] = { "the clocks of PostgreSQL and of the collector differ",
				     "set the wrong one" },
		[CLOCK_NODES] = { "the clocks of PostgreSQL and of most nodes differ",
				  "set the wrong ones" },
		[CLOCK_AHEAD] = { "the newest stored row is older than the clock of PostgreSQL",
				  "check that clock, and whether nodes deliver" },
		[CLOCK_BEHIND] = { "the newest stored row is newer than the clock of PostgreSQL",
				   "check that clock" },
	};

	if (w->hold.fault == CLOCK_OK)
		log_info("the clocks agree with the stored rows again; retention goes on in an "
			 "hour");
	else
		log_warn(0, "retention drops nothing: %s by %.1f hours; %s",
			 texts[w->hold.fault].cause, (double)clock_apart_s(t) / 3600,
			 texts[w->hold.fault].todo);
}

static int ask(struct clock_watch *w, struct pg *p)
{
	static const char sql[] =
		"select (extract(epoch from clock_timestamp()) * 1000000)::bigint, "
		"coalesce(extract(epoch from past), 0)::bigint, coalesce(extract(epoch from "
		"newest), 0)::bigint from newest_row()";
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(p, sql, &(struct pg_args){ 0 }, &res);

	if (r < 0)
		return r;
	w->database_ahead_ns =
		(int64_t)(strtoull(PQgetvalue(res, 0, 0), NULL, 10) * 1000 - clock_mono_ns());
	w->past_s = strtoll(PQgetvalue(res, 0, 1), NULL, 10);
	w->newest_s = strtoll(PQgetvalue(res, 0, 2), NULL, 10);
	return 0;
}

int clock_watch_read(struct clock_watch *w, struct pg *p, bool now)
{
	struct clock_times t;
	int r;

	if (!now && clock_mono_ns() < w->due_ns)
		return 0;
	r = ask(w, p);
	if (r < 0)
		return r;
	w->due_ns = clock_mono_ns() + READ_NS;
	t = times(w);
	if (clock_hold_step(&w->hold, clock_check(&t), clock_mono_ns() / SEC + 1))
		log_fault(w, &t);
	counter_set(C_CLOCK_APART, w->newest_s ? clock_apart_s(&t) : 0);
	clock_publish(w->hold.fault);
	return 0;
}

bool clock_watch_drops(const struct clock_watch *w)
{
	return clock_hold_drops(&w->hold, clock_mono_ns() / SEC + 1);
}

int64_t clock_watch_earliest_s(const struct clock_watch *w)
{
	struct clock_times t = times(w);

	return clock_earliest(&t);
}

uint64_t clock_watch_other_ns(struct clock_watch *w)
{
	struct clock_times t = times(w);
	int64_t s = clock_other(&t);

	return s > 0 ? (uint64_t)s * SEC : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/core/clock_check.h"

#include "lib/base/json.h"
#include "collector/core/counters.h"

static const enum counter gauges[CLOCK_FAULT_END] = {
	[CLOCK_OK] = COUNTER_END,	[CLOCK_DATABASE] = C_HELD_DATABASE,
	[CLOCK_NODES] = C_HELD_NODES,	[CLOCK_AHEAD] = C_HELD_AHEAD,
	[CLOCK_BEHIND] = C_HELD_BEHIND,
};

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)(a - b) : (uint64_t)(b - a);
}

static bool is_apart(int64_t a, int64_t b)
{
	return a && b && distance(a, b) > CLOCK_APART_S;
}

enum clock_fault clock_check(const struct clock_times *t)
{
	if (!t->newest_s)
		return CLOCK_OK; /* nothing is stored that could be dropped */
	if (is_apart(t->collector_s, t->database_s))
		return CLOCK_DATABASE;
	if (is_apart(t->nodes_s, t->database_s))
		return CLOCK_NODES;
	if (t->newest_s > t->database_s + CLOCK_APART_S && !t->nodes_s)
		return CLOCK_BEHIND;
	if (t->past_s + CLOCK_APART_S < t->database_s)
		return t->past_s || !t->nodes_s ? CLOCK_AHEAD : CLOCK_BEHIND;
	return CLOCK_OK;
}

int64_t clock_earliest(const struct clock_times *t)
{
	const int64_t all[] = { t->collector_s, t->nodes_s, t->past_s };
	int64_t least = t->database_s;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && all[i] < least)
			least = all[i];
	return least;
}

uint64_t clock_apart_s(const struct clock_times *t)
{
	const int64_t all[] = { t->collector_s, t->nodes_s, t->past_s ? t->past_s : t->newest_s };
	uint64_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && distance(all[i], t->database_s) > most)
			most = distance(all[i], t->database_s);
	return most;
}

/*
 * Nodes that agree with PostgreSQL decide: the rows are older because nothing was stored meanwhile.
 * Nodes that do not are believed if they continue the stored rows; with no rows yet, if the
 * collector's clock is theirs.
 */
int64_t clock_other(const struct clock_times *t)
{
	int64_t other = t->nodes_s ? t->nodes_s : t->newest_s;

	if (!other || distance(other, t->database_s) <= CLOCK_DAY_S)
		return 0;
	if (!t->nodes_s)
		return other;
	if (!t->newest_s)
		return is_apart(t->collector_s, other) ? 0 : other;
	return distance(other, t->newest_s) < distance(t->database_s, t->newest_s) ? other : 0;
}

bool clock_hold_step(struct clock_hold *h, enum clock_fault fault, uint64_t mono_s)
{
	bool changed = fault != h->fault;

	if (fault != CLOCK_OK && !h->held)
		h->since_s = mono_s;
	if (fault == CLOCK_OK && h->held)
		h->ended_s = mono_s;
	h->held = fault != CLOCK_OK;
	h->fault = fault;
	return changed;
}

bool clock_hold_drops(const struct clock_hold *h, uint64_t mono_s)
{
	if (h->held)
		return mono_s - h->since_s >= CLOCK_HOLD_S;
	return !h->ended_s || mono_s - h->ended_s >= CLOCK_SETTLE_S;
}

const char *clock_fault_name(enum clock_fault fault)
{
	static const char *const names[CLOCK_FAULT_END] = {
		[CLOCK_OK] = "ok",	 [CLOCK_DATABASE] = "database", [CLOCK_NODES] = "nodes",
		[CLOCK_AHEAD] = "ahead", [CLOCK_BEHIND] = "behind",
	};

	return names[fault];
}

void clock_publish(enum clock_fault fault)
{
	for (int i = CLOCK_OK + 1; i < CLOCK_FAULT_END; i++)
		counter_set(gauges[i], fault == (enum clock_fault)i);
}

enum clock_fault clock_published(void)
{
	for (int i = CLOCK_OK + 1; i < CLOCK_FAULT_END; i++)
		if (counter_get(gauges[i]))
			return (enum clock_fault)i;
	return CLOCK_OK;
}

void clock_put_hold(struct buf *out)
{
	enum clock_fault fault = clock_published();

	if (fault == CLOCK_OK)
		return;
	json_raw(out, ",\"retention\":{\"held\":");
	json_text(out, clock_fault_name(fault));
	json_raw(out, ",\"apartSeconds\":");
	json_uint(out, counter_get(C_CLOCK_APART));
	json_raw(out, "}");
}

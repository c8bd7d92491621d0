// SPDX-License-Identifier: Apache-2.0
#include "collector/store/writer_log.h"

#include <inttypes.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

#define SEC 1000000000ull

static const uint64_t QUIET_NS = 60 * SEC;

void writer_log_away(struct writer_log *t, const char *why)
{
	if (t->away_ns)
		return;
	t->away_ns = clock_mono_ns();
	log_warn(0,
		 "the database does not store: %s; probes keep their data until it does; check "
		 "PostgreSQL",
		 why);
}

void writer_log_ready(struct writer_log *t)
{
	if (t->away_ns)
		log_info("the database stores again, after %.1f s",
			 (double)(clock_mono_ns() - t->away_ns) / 1e9);
	else if (!t->was_ready)
		log_info("the database is ready");
	t->away_ns = 0;
	t->was_ready = true;
}

static void writer_log_clock(struct entry *e, const struct batch *b)
{
	double off = ((double)b->head.wall_ns - (double)b->now_ns) / 1e9;
	bool is_off = b->clamped && b->tick_ns != b->head.wall_ns;

	if (is_off == e->clock_off)
		return;
	e->clock_off = is_off;
	if (is_off)
		log_warn(
			0,
			"the clock of node %s is %.0f s %s; its rows are stored with their arrival "
			"time until the clock is corrected",
			e->name, off < 0 ? -off : off, off < 0 ? "behind" : "ahead");
	else
		log_info("the clock of node %s is correct again", e->name);
}

static void writer_log_quarantine(struct writer_log *t, const struct entry *e,
				  const struct batch *b)
{
	uint64_t now = clock_mono_ns();

	t->quarantined++;
	if (t->quarantine_ns && now - t->quarantine_ns < QUIET_NS)
		return;
	log_warn(0,
		 "batch %" PRIu64
		 " of node %s cannot be stored and is in table quarantine with the "
		 "reason (%" PRIu64 " since the last such line); please report it with its body",
		 b->head.seq, e->name, t->quarantined);
	t->quarantine_ns = now;
	t->quarantined = 0;
}

void writer_log_batch(struct writer_log *t, struct entry *e, const struct batch *b)
{
	if (b->outcome == OUTCOME_QUARANTINED)
		writer_log_quarantine(t, e, b);
	else if (b->outcome == OUTCOME_DONE && (b->clamped || e->clock_off))
		writer_log_clock(e, b);
}

void writer_log_machine(const char *node, const char *machine, const char *was)
{
	log_warn(0,
		 "node %s is now machine %s, before it was %s; if both run, give each its own name "
		 "with seismo-probe --node",
		 node, machine, was);
}

void writer_log_left(uint64_t batches)
{
	log_warn(0,
		 "%" PRIu64 " batches were not stored because the database is away; their probes "
		 "will send them again",
		 batches);
}

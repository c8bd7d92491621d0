// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/source_throttle.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "probe/event/event_param.h"

static const char kind[] = "probe.budget";

void source_throttle_begin(struct source_throttle *t, uint32_t look_s)
{
	t->reads.look_s = look_s;
	t->programs = (struct budget){ .look_s = look_s, .patience = 1 };
}

static void put_cost(struct event_item *e, const struct source *s, const struct budget *b,
		     double may_percent)
{
	event_text(e, "source", s->name);
	event_number(e, "percent", round(b->share * 10000) / 100);
	event_number(e, "budget", may_percent);
}

static struct event_item new_event(uint16_t reason)
{
	return (struct event_item){ .kind = kind,
				    .severity = EVENT_WARNING,
				    .comm = "seismo-probe",
				    .pid = (uint32_t)getpid(),
				    .reason = reason };
}

/* Whether a report is due: at the start, at intervals, and at each change. key: unique. */
static bool report_due(struct ongoing_event *l, enum budget_change change, const char *key,
		       uint64_t now)
{
	if (change == BUDGET_RARER && !l->id)
		ongoing_event_begin(l, kind, key, now, clock_wall_ns());
	return ongoing_event_due(l, now) || (change != BUDGET_SAME && l->id);
}

static void log_read(const struct source_throttle *t, const struct source *s, double may_percent,
		     enum budget_change change)
{
	const struct budget *b = &t->reads;

	if (change == BUDGET_RARER)
		log_warn(0,
			 "reading source %s took %.2f %% of a CPU, more than %g %%: it is now "
			 "read every %u ms",
			 s->name, b->share * 100, may_percent, s->period_ms << b->step);
	else if (change == BUDGET_OFTENER)
		log_info("source %s is read every %u ms again", s->name, s->period_ms << b->step);
}

bool source_throttle_read(struct source_throttle *t, const struct source *s, double may_percent,
			  uint64_t cpu_ns, struct sink *out)
{
	const uint64_t now = clock_mono_ns();
	struct budget *b = &t->reads;
	enum budget_change change = budget_took(b, now, cpu_ns, may_percent / 100);

	log_read(t, s, may_percent, change);
	if (report_due(&t->reads_over, change, s->name, now)) {
		struct event_item e = new_event(R_PROBE_BUDGET);

		put_cost(&e, s, b, may_percent);
		event_number(&e, "every_ms", s->period_ms << b->step);
		ongoing_event_report(&t->reads_over, now, b->step > 0, &e);
		sink_event(out, &e);
	}
	return change != BUDGET_SAME;
}

static void log_programs(const struct source_throttle *t, const struct source *s,
			 double may_percent, enum budget_change change)
{
	const struct budget *b = &t->programs;

	if (change == BUDGET_RARER)
		log_warn(0,
			 "the kernel programs of source %s took %.2f %% of all CPUs, more than "
			 "%g %%: they now process 1 in %u of %s",
			 s->name, b->share * 100, may_percent, 1u << b->step, s->sampled);
	else if (change == BUDGET_OFTENER && b->step)
		log_info("the kernel programs of source %s process 1 in %u of %s again", s->name,
			 1u << b->step, s->sampled);
	else if (change == BUDGET_OFTENER)
		log_info("the kernel programs of source %s process all of %s again", s->name,
			 s->sampled);
}

static void report_programs(struct source_throttle *t, const struct source *s, double may_percent,
			    uint64_t now, struct sink *out)
{
	struct event_item e = new_event(R_PROBE_SAMPLED);

	put_cost(&e, s, &t->programs, may_percent);
	event_number(&e, "of", 1u << t->programs.step);
	ongoing_event_report(&t->programs_over, now, t->programs.step > 0, &e);
	sink_event(out, &e);
}

bool source_throttle_programs(struct source_throttle *t, const struct source *s, void *self,
			      double may_percent, const struct meter_runs *runs, uint32_t ncpu,
			      struct sink *out)
{
	const uint64_t now = clock_mono_ns();
	const uint64_t ns = runs->ns - t->seen.ns, of_ns = runs->counted_ns - t->seen.counted_ns;
	enum budget_change change;
	char key[64];

	t->seen = *runs;
	if (!s->sample)
		return false;
	change = budget_counted(&t->programs, now, ns, of_ns * ncpu, may_percent / 100);
	if (change != BUDGET_SAME)
		s->sample(self, t->programs.step);
	log_programs(t, s, may_percent, change);
	snprintf(key, sizeof(key), "programs of %s", s->name);
	if (report_due(&t->programs_over, change, key, now))
		report_programs(t, s, may_percent, now, out);
	return change != BUDGET_SAME;
}

bool source_throttle_why(const struct source_throttle *t, const struct source *s,
			 double may_percent, char why[static WHY_LEN])
{
	int len = 0;

	if (t->reads.step)
		len = snprintf(why, WHY_LEN,
			       "its reads cost more than %g %% of a CPU: read every %u ms, not %u",
			       may_percent, s->period_ms << t->reads.step, s->period_ms);
	if (t->programs.step)
		snprintf(why + len, WHY_LEN - (size_t)len,
			 "%sits kernel programs cost more than %g %% of all CPUs: they process "
			 "1 in %u of %s",
			 len ? "; " : "", may_percent, 1u << t->programs.step, s->sampled);
	return t->reads.step || t->programs.step;
}

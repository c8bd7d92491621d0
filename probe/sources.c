// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <math.h>
#include <stdio.h>

#include "../lib/clock.h"
#include "../lib/log.h"
#include "../lib/reason.h"
#include "budget.h"
#include "event_param.h"
#include "lasting.h"
#include "meter.h"
#include "on_demand.h"
#include "own.h"
#include "story.h"

enum { ROOM = 64 };

static const struct source *table[ROOM] = {
#define SOURCE(name) &source_##name,
#include "sources.def"
#undef SOURCE
};

enum {
#define SOURCE(name) OURS_##name,
#include "sources.def"
#undef SOURCE
	OURS
};

_Static_assert(OURS + OWN_SOURCES <= ROOM, "room");

static size_t ntable = OURS;

struct sources {
	struct story story;
	void *self[ROOM]; /* NULL: off */
	char why[ROOM][WHY_LEN]; /* "": attached and read */
	bool rests[ROOM];
	struct budget budget[ROOM];
	struct lasting over[ROOM]; /* it costs more than it may */
	double may_percent;
	const char *procfs;
	struct meter *meter;
};

void sources_use(const char *programs)
{
	sources_forget();
	if (*programs)
		ntable += own_find(programs, table + OURS);
}

void sources_forget(void)
{
	own_forget();
	ntable = OURS;
}

size_t sources_count(void)
{
	return ntable;
}

const struct source *sources_at(size_t i)
{
	return table[i];
}

bool sources_minded(size_t i, const struct probe_config *c)
{
	return !table[i]->of_hardware &&
	       (!on_demand_is(table[i]->name) || on_demand_asked(c->on_demand, table[i]->name));
}

static bool is_among(const struct wire_dict *d, const struct wire_dict **of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (of[i] == d)
			return true;
	return false;
}

size_t sources_layouts(const struct wire_dict **out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < ntable; i++) {
		for (size_t j = 0; j < table[i]->nlayouts; j++) {
			if (is_among(table[i]->layouts[j], out, n))
				continue;
			if (n == room)
				die("more than %zu layouts", room);
			out[n++] = table[i]->layouts[j];
		}
	}
	return n;
}

static void explain(char why[static WHY_LEN], int err)
{
	if (why[0])
		return;
	if ((err == -EPERM || err == -EACCES) && geteuid() != 0)
		snprintf(why, WHY_LEN, "not permitted; start seismo-probe as root");
	else
		snprintf(why, WHY_LEN, "%s", strerror(-err));
}

static bool may_open(size_t i, const struct probe_env *env)
{
	const char *name = table[i]->name;

	if (!on_demand_is(name) || on_demand_asked(env->config->on_demand, name))
		return true;
	snprintf(env->why, WHY_LEN, "not asked for: on_demand = %s in probe.conf", name);
	return false;
}

/* NULL: env->why says what is missing. */
static void *open_one(size_t i, const struct probe_env *env)
{
	struct probe_env one = *env;
	void *self = calloc(1, table[i]->size);
	int r;

	if (!self)
		die("out of memory");
	env->why[0] = 0;
	one.arg = table[i]->arg;
	r = may_open(i, env) ? table[i]->open(self, &one) : -ECANCELED;
	if (r == 0) {
		env->why[0] = 0;
		return self;
	}
	table[i]->close(self);
	free(self);
	explain(env->why, r);
	return NULL;
}

int sources_try(size_t i, const struct probe_env *env, struct map_memory *maps)
{
	struct sink sink = { 0 };
	void *self = open_one(i, env);
	int r;

	if (!self)
		return -ENODEV;
	r = table[i]->read(self, &sink);
	if (maps)
		map_memory_add(maps, table[i]->ring_most);
	table[i]->close(self);
	free(self);
	buf_free(&sink.event);
	buf_free(&sink.metric);
	if (r < 0)
		explain(env->why, r);
	return r < 0 ? r : 0;
}

struct sources *sources_open(const struct probe_env *env)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->meter = meter_new(ntable);
	s->may_percent = env->config->budget_percent;
	s->procfs = env->procfs;
	for (size_t i = 0; i < ntable; i++) {
		struct probe_env one = *env;

		one.why = s->why[i];
		one.story = &s->story;
		meter_before_open(s->meter);
		s->self[i] = open_one(i, &one);
		meter_after_open(s->meter, i);
		if (!s->self[i] && sources_minded(i, env->config))
			log_warn(0, "source %s is off: %s", table[i]->name, s->why[i]);
	}
	if (meter_count(s->meter, clock_mono_ns()) < 0)
		log_info("how long its kernel programs run is not counted: that takes "
			 "CAP_SYS_ADMIN");
	return s;
}

void sources_close(struct sources *s)
{
	if (!s)
		return;
	for (size_t i = ntable; i-- > 0;) {
		if (s->self[i])
			table[i]->close(s->self[i]);
		free(s->self[i]);
	}
	meter_free(s->meter);
	free(s);
}

static void tell(const struct sources *s, size_t i, struct sink *out)
{
	const uint32_t every = 1u << s->budget[i].step;
	struct source_item item = {
		.name = table[i]->name,
		.state = s->why[i][0] ? SOURCE_OFF : SOURCE_ATTACHED,
		.why = s->why[i],
	};
	char why[WHY_LEN];

	if (item.state == SOURCE_ATTACHED && every > 1) {
		snprintf(why, sizeof(why),
			 "its reads cost more than %g %% of a processor: read every %u ms, not %u",
			 s->may_percent, table[i]->period_ms * every, table[i]->period_ms);
		item.state = SOURCE_THROTTLED;
		item.why = why;
	}
	sink_source(out, &item);
}

static void tell_over(struct sources *s, size_t i, uint64_t now, struct sink *out)
{
	const struct budget *b = &s->budget[i];
	struct event_item e = { .kind = "probe.budget",
				.severity = EVENT_WARNING,
				.comm = "seismo-probe",
				.pid = (uint32_t)getpid(),
				.reason = R_PROBE_BUDGET };

	event_text(&e, "source", table[i]->name);
	event_number(&e, "percent", round(b->share * 10000) / 100);
	event_number(&e, "budget", s->may_percent);
	event_number(&e, "every_ms", table[i]->period_ms << b->step);
	lasting_tell(&s->over[i], now, b->step > 0, &e);
	sink_event(out, &e);
}

/* What it costs goes with its read; what is read rarer says so, and why. */
static void mind_budget(struct sources *s, size_t i, uint64_t cpu_ns, struct sink *out)
{
	const uint64_t now = clock_mono_ns();
	struct budget *b = &s->budget[i];
	enum budget_change change = budget_took(b, now, cpu_ns, s->may_percent / 100);

	if (change == BUDGET_RARER && !s->over[i].id)
		lasting_begin(&s->over[i], "probe.budget", table[i]->name, now, clock_wall_ns());
	if (change == BUDGET_RARER)
		log_warn(0,
			 "reading source %s took %.2f %% of a processor, more than %g %%: it is "
			 "read every %u ms",
			 table[i]->name, b->share * 100, s->may_percent,
			 table[i]->period_ms << b->step);
	else if (change == BUDGET_OFTENER)
		log_info("source %s is read every %u ms again", table[i]->name,
			 table[i]->period_ms << b->step);
	if (change != BUDGET_SAME)
		tell(s, i, out);
	if (lasting_due(&s->over[i], now) || (change != BUDGET_SAME && s->over[i].id))
		tell_over(s, i, now, out);
}

static void read_one(struct sources *s, size_t i, struct sink *out)
{
	const uint64_t begin = meter_cpu_ns();
	char *why = s->why[i];
	int r = table[i]->read(s->self[i], out);
	const uint64_t cpu_ns = meter_cpu_ns() - begin;

	s->rests[i] = r == SOURCE_RESTS;
	meter_read(s->meter, i, cpu_ns, r < 0);
	if (table[i]->steady)
		mind_budget(s, i, cpu_ns, out);
	if (r < 0 && !why[0]) {
		snprintf(why, WHY_LEN, "cannot be read: %s", strerror(-r));
		log_warn(0, "source %s %s; asking it again", table[i]->name, why);
		tell(s, i, out);
	} else if (r >= 0 && why[0]) {
		why[0] = 0;
		log_info("source %s can be read again", table[i]->name);
		tell(s, i, out);
	}
}

bool sources_read(struct sources *s, size_t i, struct sink *out)
{
	if (!s->self[i])
		return true;
	if (!table[i]->steady || budget_due(&s->budget[i]))
		read_one(s, i, out);
	else
		meter_skipped(s->meter, i);
	return s->rests[i];
}

bool sources_on(const struct sources *s, size_t i)
{
	return s->self[i] != NULL;
}

int sources_wakes(struct sources *s, size_t i)
{
	return sources_on(s, i) && table[i]->wakes ? table[i]->wakes(s->self[i]) : -1;
}

void sources_tell_cost(struct sources *s, struct sink *out)
{
	const char *names[ROOM];
	bool on[ROOM];

	for (size_t i = 0; i < ntable; i++) {
		names[i] = table[i]->name;
		on[i] = sources_on(s, i);
	}
	meter_tell(s->meter, clock_mono_ns(), names, on, s->procfs, out);
}

void sources_tell(const struct sources *s, struct sink *out)
{
	for (size_t i = 0; i < ntable; i++)
		tell(s, i, out);
}

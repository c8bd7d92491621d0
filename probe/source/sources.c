// SPDX-License-Identifier: Apache-2.0
#include "probe/source/sources.h"

#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/overhead/meter.h"
#include "probe/core/on_demand.h"
#include "probe/source/custom/custom.h"
#include "probe/source/kernel_log/kernel_events.h"
#include "probe/kernel/switch_chain.h"
#include "probe/overhead/source_throttle.h"

enum { ROOM = 64 };

static const struct source *table[ROOM] = {
#define SOURCE(name) &source_##name,
#include "probe/core/sources.def"
#undef SOURCE
};

enum {
#define SOURCE(name) OURS_##name,
#include "probe/core/sources.def"
#undef SOURCE
	OURS
};

_Static_assert(OURS + CUSTOM_SOURCES <= ROOM, "room");

static size_t ntable = OURS;

struct sources {
	struct kernel_events kernel_events;
	struct switch_chain chain;
	void *self[ROOM]; /* NULL: off */
	char why[ROOM][WHY_LEN]; /* "": attached and read */
	enum source_pace pace[ROOM]; /* of the last read */
	struct source_throttle throttle[ROOM];
	double may_percent;
	uint32_t ncpu;
	const char *procfs;
	struct meter *meter;
};

void sources_use(const char *programs)
{
	sources_forget();
	if (*programs)
		ntable += custom_find(programs, table + OURS);
}

void sources_forget(void)
{
	custom_forget();
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

bool sources_required(size_t i, const struct probe_config *c)
{
	return !table[i]->needs_hardware &&
	       (!on_demand_is(table[i]->name) || on_demand_enabled(c->on_demand, table[i]->name));
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

static void explain_error(char why[static WHY_LEN], int err)
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

	if (!on_demand_is(name) || on_demand_enabled(env->config->on_demand, name))
		return true;
	snprintf(env->why, WHY_LEN, "not asked for: on_demand = %s in probe.conf", name);
	return false;
}

/* NULL: failed, with the reason in env->why. */
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
	explain_error(env->why, r);
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
		map_memory_add(maps, table[i]->ring_max, table[i]->counts_max);
	table[i]->close(self);
	free(self);
	buf_free(&sink.event);
	buf_free(&sink.metric);
	if (r < 0)
		explain_error(env->why, r);
	return r < 0 ? r : 0;
}

static void count_programs(struct sources *s, uint32_t look_s)
{
	uint32_t each_s = (look_s ? look_s : BUDGET_LOOK_S) / 2; /* two windows per measurement */

	if (meter_count(s->meter, clock_mono_ns(), each_s ? each_s : 1) < 0)
		log_info(
			"the CPU time of kernel programs is not measured, and they have no budget: "
			"needs CAP_SYS_ADMIN");
}

struct sources *sources_open(const struct probe_env *env)
{
	const uint32_t look_s = (uint32_t)env->config->budget_look_s;
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->meter = meter_new(ntable, &s->chain);
	s->may_percent = env->config->budget_percent;
	s->ncpu = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	s->procfs = env->procfs;
	kernel_btf_begin();
	for (size_t i = 0; i < ntable; i++) {
		struct probe_env one = *env;

		source_throttle_begin(&s->throttle[i], look_s);
		one.why = s->why[i];
		one.kernel_events = &s->kernel_events;
		one.chain = &s->chain;
		meter_before_open(s->meter);
		s->self[i] = open_one(i, &one);
		meter_after_open(s->meter, i);
		if (!s->self[i] && sources_required(i, env->config))
			log_warn(0, "source %s is off: %s", table[i]->name, s->why[i]);
	}
	kernel_btf_end();
	count_programs(s, look_s);
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

static void send_state(const struct sources *s, size_t i, struct sink *out)
{
	struct source_item item = {
		.name = table[i]->name,
		.state = s->why[i][0] ? SOURCE_OFF : SOURCE_ATTACHED,
		.why = s->why[i],
	};
	char why[WHY_LEN];

	if (item.state == SOURCE_ATTACHED &&
	    source_throttle_why(&s->throttle[i], table[i], s->may_percent, why)) {
		item.state = SOURCE_THROTTLED;
		item.why = why;
	}
	sink_source(out, &item);
}

static void read_one(struct sources *s, size_t i, struct sink *out)
{
	const uint64_t begin = clock_cpu_ns();
	char *why = s->why[i];
	int r = table[i]->read(s->self[i], out);
	const uint64_t cpu_ns = clock_cpu_ns() - begin;

	s->pace[i] = r < 0 ? SOURCE_ON_TIME : (enum source_pace)r;
	meter_read(s->meter, i, cpu_ns, r < 0);
	if (table[i]->steady &&
	    source_throttle_read(&s->throttle[i], table[i], s->may_percent, cpu_ns, out))
		send_state(s, i, out);
	if (r < 0 && !why[0]) {
		snprintf(why, WHY_LEN, "cannot be read: %s", strerror(-r));
		log_warn(0, "source %s %s; will retry", table[i]->name, why);
		send_state(s, i, out);
	} else if (r >= 0 && why[0]) {
		why[0] = 0;
		log_info("source %s can be read again", table[i]->name);
		send_state(s, i, out);
	}
}

enum source_pace sources_read(struct sources *s, size_t i, struct sink *out)
{
	if (!s->self[i])
		return SOURCE_RESTS;
	if (!table[i]->steady || budget_due(&s->throttle[i].reads))
		read_one(s, i, out);
	else
		meter_skipped(s->meter, i);
	return s->pace[i];
}

void sources_watch(struct sources *s, struct sink *out)
{
	if (!meter_watch(s->meter, clock_mono_ns()))
		return;
	for (size_t i = 0; i < ntable; i++) {
		struct meter_runs runs = meter_runs_of(s->meter, i);

		if (sources_on(s, i) &&
		    source_throttle_programs(&s->throttle[i], table[i], s->self[i], s->may_percent,
					     &runs, s->ncpu, out))
			send_state(s, i, out);
	}
}

uint32_t sources_watch_ms(const struct sources *s)
{
	return meter_watch_ms(s->meter);
}

bool sources_on(const struct sources *s, size_t i)
{
	return s->self[i] != NULL;
}

int sources_wakes(struct sources *s, size_t i)
{
	return sources_on(s, i) && table[i]->wakes ? table[i]->wakes(s->self[i]) : -1;
}

void sources_send_cost(struct sources *s, struct sink *out)
{
	const char *names[ROOM];
	bool on[ROOM];

	for (size_t i = 0; i < ntable; i++) {
		names[i] = table[i]->name;
		on[i] = sources_on(s, i);
	}
	meter_report(s->meter, clock_mono_ns(), names, on, s->procfs, out);
}

void sources_send_states(const struct sources *s, struct sink *out)
{
	for (size_t i = 0; i < ntable; i++)
		send_state(s, i, out);
}

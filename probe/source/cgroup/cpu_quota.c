// SPDX-License-Identifier: Apache-2.0
#include "probe/source/cgroup/cpu_quota.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/cgroup_name.h"
#include "lib/base/log.h"
#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/cgroup/cgroup_path.h"
#include "probe/event/episode.h"
#include "probe/event/event_param.h"

enum { FEWEST = 10 }; /* fewer active periods in a tick are not judged */

#define KEPT_NS                                                                                    \
	(300 * 1000000000ull) /* an episode that returns within this time is the same one          \
			       */

static const double least = 0.25; /* share of the periods; less is no trouble */

struct throttle {
	char *path;
	struct episode episode;
	struct throttled now;
	int64_t wall_minus_mono_ns; /* as it was when the episode opened */
	double seconds; /* throttled time since then */
	double cpus;
};

void cpu_quota_free(struct cpu_quota *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->one[i].path);
	free(t->one);
	*t = (struct cpu_quota){ 0 };
}

static struct throttle *find_throttle(const struct cpu_quota *t, const char *path)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (strcmp(t->one[i].path, path) == 0)
			return &t->one[i];
	return NULL;
}

static struct throttle *add_throttle(struct cpu_quota *t, const char *path)
{
	struct throttle *o;

	if (t->n == THROTTLES_MAX)
		return NULL;
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 4;
		t->one = reallocarray(t->one, t->room, sizeof(*t->one));
		if (!t->one)
			die("out of memory");
	}
	o = &t->one[t->n++];
	*o = (struct throttle){ .path = strdup(path) };
	if (!o->path)
		die("out of memory");
	episode_init(&o->episode, least);
	return o;
}

static double share_of(const struct throttled *n)
{
	return n->periods >= FEWEST ? fmin(n->stopped / n->periods, 1) : 0;
}

void cpu_quota_seen(struct cpu_quota *t, const char *path, const struct throttled *now)
{
	struct throttle *o = t->n ? find_throttle(t, path) : NULL;

	if (!o && share_of(now) >= least / 2)
		o = add_throttle(t, path);
	if (!o)
		return;
	o->now = *now;
	o->cpus = now->cpus;
}

/* The container, unit or job, as far as the path reveals it. */
static void name_of(const char *path, char *text, size_t size)
{
	static const enum cgroup_key order[] = { LABEL_CONTAINER, LABEL_JOB, LABEL_VM, LABEL_UNIT };
	struct cgroup_name name;

	cgroup_name_read(path, &name);
	text[0] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(order) && !text[0]; i++) {
		const char *value = name.value[order[i]];

		text_clean_into(text, size, value, strlen(value));
	}
}

static void send_quota_event(const struct throttle *o, bool going_on, struct sink *out)
{
	const struct episode *p = &o->episode;
	char cgroup[ITEM_MAX_TEXT], clean[ITEM_MAX_TEXT], name[CGROUP_VALUE * 4];
	struct event_item e = {
		.start_ns = p->start_ns + (uint64_t)o->wall_minus_mono_ns,
		.us = (p->last_high_ns - p->start_ns) / 1000,
		.kind = "cpu.quota",
		.severity = EVENT_WARNING,
		.comm = "",
		.reason = R_CPU_QUOTA,
		.update = p->reports,
		.going_on = going_on,
	};

	cgroup_entity(o->path, cgroup);
	text_clean_into(clean, sizeof(clean), cgroup, strlen(cgroup));
	name_of(o->path, name, sizeof(name));
	e.id = event_id(clean, e.start_ns);
	event_number(&e, "pct", p->of_s > 0 ? round(100 * p->waited_s / p->of_s) : 0);
	event_number(&e, "times", p->times);
	event_text(&e, "cgroup", clean);
	event_text(&e, "name", name);
	if (isnan(o->cpus))
		event_text(&e, "cpus", "");
	else
		event_number(&e, "cpus", round(o->cpus * 100) / 100);
	event_number(&e, "lost_s", round(o->seconds * 10) / 10);
	sink_event(out, &e);
}

/* False: nothing needs to be remembered. */
static bool step_throttle(struct throttle *o, uint64_t now_ns, uint64_t wall_ns, struct sink *out)
{
	struct episode *e = &o->episode;
	enum episode_is is;

	o->seconds += o->now.seconds;
	is = episode_step(e, share_of(&o->now), now_ns);
	o->now = (struct throttled){ 0 };
	if (is == EPISODE_OPENS)
		o->wall_minus_mono_ns = (int64_t)(wall_ns - now_ns);
	if (is != EPISODE_NOTHING)
		send_quota_event(o, is != EPISODE_ENDS, out);
	if (e->open || e->high_ns || (e->ended_ns && now_ns - e->ended_ns < KEPT_NS))
		return true;
	o->seconds = 0;
	return e->usual > least / 2;
}

void cpu_quota_step(struct cpu_quota *t, uint64_t now_ns, uint64_t wall_ns, struct sink *out)
{
	for (uint32_t i = t->n; i-- > 0;) {
		if (step_throttle(&t->one[i], now_ns, wall_ns, out))
			continue;
		free(t->one[i].path);
		t->one[i] = t->one[--t->n];
	}
}

// SPDX-License-Identifier: Apache-2.0
/*
 * src_stalls.c - lasting waits for a CPU, a disk or memory: one event per episode, with the
 * processes that caused it.
 *
 * Reads three files per tick with three system calls. Processes and disks are scanned only while a
 * pressure file reports waiting.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/cgroup/memory_limit.h"
#include "probe/source/stall/culprit_read.h"
#include "probe/procfs/pressure.h"
#include "probe/cgroup/scope.h"
#include "probe/core/source.h"
#include "probe/source/stall/stall_event.h"
#include "probe/source/stall/stalls.h"

enum { KINDS = STALL_MEMORY + 1, PERIOD_MS = 500, STEP_MS = 50, BELOW = 512 };

static const struct {
	const char *file, *controller;
} kinds[KINDS] = {
	[STALL_CPU] = { "cpu", "cpu" },
	[STALL_IO] = { "io", "blkio" },
	[STALL_MEMORY] = { "memory", "memory" },
};

struct stall_watch {
	struct pressure pressure; /* fd -1: not reported */
	struct episode episode;
	struct culprits *culprits; /* NULL: nothing waits */
	struct disk_watch *disks;
	bool pending; /* a report that waits until the scan is complete */
	bool going_on; /* what it says of the episode */
	int64_t wall_minus_mono_ns; /* as it was when the episode opened */
	char cgroup[ITEM_MAX_TEXT / 2]; /* of the main culprit at the last report */
	uint32_t cgroup_of; /* its pid */
};

struct stalls {
	struct stall_watch watch[KINDS];
	uint64_t due_ns; /* reads before that are only to go on with scans */
	char procfs[PATH_MAX], sysfs[PATH_MAX], below[BELOW];
	struct buf text;
	double cpus;
};

bool stalls_in_scope(const struct probe_config *c)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cpu.pressure", c->scope + strlen("cgroup="));
	return c->scope[0] && access(path, R_OK) == 0;
}

static double floor_of(const struct probe_config *c, enum stall_resource what)
{
	switch (what) {
	case STALL_CPU:
		return (double)c->cpu_stall_pct / 100;
	case STALL_IO:
		return (double)c->io_stall_pct / 100;
	case STALL_MEMORY:
		return (double)c->memory_stall_pct / 100;
	}
	return 0;
}

static int open_pressure(struct stalls *s, enum stall_resource what, const struct probe_config *c)
{
	char path[PATH_MAX + 32];

	if (stalls_in_scope(c))
		snprintf(path, sizeof(path), "%s/%s.pressure", c->scope + strlen("cgroup="),
			 kinds[what].file);
	else
		snprintf(path, sizeof(path), "%s/pressure/%s", s->procfs, kinds[what].file);
	return pressure_open(&s->watch[what].pressure, path);
}

static void stop_scanning(struct stall_watch *w)
{
	culprits_free(w->culprits);
	disk_watch_free(w->disks);
	w->culprits = NULL;
	w->disks = NULL;
}

static void stalls_close(void *self)
{
	struct stalls *s = self;

	for (int i = 0; i < KINDS; i++) {
		if (s->watch[i].pressure.fd > 0) /* 0: never opened */
			pressure_close(&s->watch[i].pressure);
		stop_scanning(&s->watch[i]);
	}
	buf_free(&s->text);
}

static int no_pressure(char *why, int r)
{
	snprintf(why, WHY_LEN,
		 "no pressure stall information (%s); boot with psi=1, on a kernel with "
		 "CONFIG_PSI=y",
		 strerror(-r));
	return r;
}

static int stalls_open(void *self, const struct probe_env *env)
{
	const struct probe_config *c = env->config;
	struct stalls *s = self;
	int watched = 0, r;

	snprintf(s->procfs, sizeof(s->procfs), "%s", env->procfs);
	snprintf(s->sysfs, sizeof(s->sysfs), "%s", env->sysfs);
	s->cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	if (scope_path(c->scope, env->procfs, s->below, sizeof(s->below)) < 0 ||
	    (c->scope[0] && !stalls_in_scope(c)))
		s->below[0] = 0;
	if (c->scope[0] && !stalls_in_scope(c))
		log_info("%s has no pressure files: stalls are measured for the whole host",
			 c->scope);
	for (int i = 0; i < KINDS; i++) {
		s->watch[i].pressure.fd = -1;
		episode_init(&s->watch[i].episode, floor_of(c, (enum stall_resource)i));
		if (s->watch[i].episode.floor <= 0)
			continue;
		r = open_pressure(s, (enum stall_resource)i, c);
		if (r < 0)
			return no_pressure(env->why, r);
		watched++;
	}
	if (watched)
		return 0;
	snprintf(env->why, WHY_LEN,
		 "turned off by cpu_stall_pct, io_stall_pct and "
		 "memory_stall_pct = 0");
	return -ECANCELED;
}

static void scan_culprits(struct stall_watch *w, uint64_t now_ns)
{
	if (w->culprits && culprits_scan(w->culprits, now_ns) < 0)
		stop_scanning(w);
}

static void scan(struct stalls *s, enum stall_resource what, uint64_t now_ns)
{
	struct stall_watch *w = &s->watch[what];

	if (!w->culprits)
		w->culprits = culprits_new(s->procfs, what, s->below);
	if (!w->disks && what == STALL_IO)
		w->disks = disk_watch_new(s->procfs, s->sysfs);
	scan_culprits(w, now_ns);
	if (w->disks && disk_watch_sample(w->disks, now_ns) < 0) {
		disk_watch_free(w->disks);
		w->disks = NULL;
	}
}

/*
 * The share of time in which ordinary tasks waited for a CPU: average number of waiting tasks for
 * each CPU in use. Low-priority tasks are expected to wait. NaN: not known yet.
 */
static double ordinary_share(const struct stalls *s, double share)
{
	const struct culprits *o = s->watch[STALL_CPU].culprits;
	double waiting = o ? culprits_waiting(o) : NAN;
	double busy = o ? fmin(fmax(culprits_busy(o), 1), s->cpus) : 1;

	return isnan(waiting) ? NAN : fmin(share, waiting / busy);
}

static void fill_cgroup(struct stalls *s, enum stall_resource what, struct stall *to)
{
	struct stall_watch *w = &s->watch[what];
	uint32_t pid = to->nworst ? to->worst[0].pid : 0;

	if (pid && pid != w->cgroup_of) {
		culprit_cgroup(&s->text, s->procfs, pid, kinds[what].controller, w->cgroup,
			       sizeof(w->cgroup));
		w->cgroup_of = pid;
	}
	memcpy(to->cgroup, w->cgroup, sizeof(to->cgroup));
	if (what == STALL_MEMORY)
		memory_limit(&s->text, s->procfs, to->cgroup, &to->used_bytes, &to->limit_bytes);
}

static void report_stall(struct stalls *s, enum stall_resource what, struct sink *out)
{
	struct stall_watch *w = &s->watch[what];
	struct stall now = { .what = what,
			     .episode = &w->episode,
			     .going_on = w->going_on,
			     .wall_minus_mono_ns = w->wall_minus_mono_ns };
	struct stall_text text;
	struct event_item e;

	if (w->culprits) {
		now.seconds = culprits_seconds(w->culprits);
		now.nworst = culprits_worst(w->culprits, now.worst, STALL_WORST);
		now.nvictims = culprits_victims(w->culprits, &now.victim, 1);
	}
	if (w->disks)
		now.ndisks = disk_watch_worst(w->disks, now.disk, STALL_WORST);
	fill_cgroup(s, what, &now);
	stall_event(&now, &text, &e);
	sink_event(out, &e);
	w->pending = false;
}

static bool scan_goes_on(const struct stall_watch *w)
{
	return w->culprits && culprits_going_on(w->culprits);
}

static void go_on(struct stalls *s, uint64_t now_ns)
{
	for (int i = 0; i < KINDS; i++)
		if (scan_goes_on(&s->watch[i]))
			scan_culprits(&s->watch[i], now_ns);
}

/* Makes the reports that waited for a scan, and returns whether one goes on. */
static bool report_pending(struct stalls *s, struct sink *out)
{
	bool more = false;

	for (int i = 0; i < KINDS; i++) {
		struct stall_watch *w = &s->watch[i];

		if (w->pending && !scan_goes_on(w))
			report_stall(s, (enum stall_resource)i, out);
		more |= scan_goes_on(w);
	}
	return more;
}

static void on_episode(struct stalls *s, enum stall_resource what, enum episode_is is,
		       uint64_t now_ns, struct sink *out)
{
	struct stall_watch *w = &s->watch[what];

	if (is != EPISODE_NOTHING && w->pending)
		report_stall(s, what, out);
	switch (is) {
	case EPISODE_NOTHING:
		return;
	case EPISODE_OPENS:
		w->wall_minus_mono_ns = (int64_t)(clock_wall_ns() - now_ns);
		w->cgroup_of = 0;
		w->cgroup[0] = 0;
		break;
	case EPISODE_REOPENS:
	case EPISODE_GOES_ON:
	case EPISODE_ENDS:
		break;
	}
	scan(s, what, now_ns);
	w->pending = true;
	w->going_on = is != EPISODE_ENDS;
}

static int watch_one(struct stalls *s, enum stall_resource what, uint64_t now_ns, struct sink *out)
{
	struct stall_watch *w = &s->watch[what];
	bool waits;
	double share;
	int r = pressure_read(&w->pressure, now_ns, &share);

	if (r < 0)
		return r;
	if (isnan(share)) /* first tick */
		return 0;
	waits = w->episode.open || share >= episode_limit(&w->episode) / 2;
	if (!w->culprits || culprits_due(w->culprits, now_ns)) {
		if (waits || w->pending)
			scan(s, what, now_ns);
		else if (!w->culprits || culprits_paid(w->culprits, now_ns))
			stop_scanning(w);
	}
	if (waits && what == STALL_CPU)
		share = ordinary_share(s, share);
	on_episode(s, what, episode_step(&w->episode, share, now_ns), now_ns, out);
	if (w->culprits && !w->episode.open && !w->episode.high_ns && !w->pending)
		culprits_forget(w->culprits); /* only tasks waited that may wait */
	return 0;
}

static int stalls_read(void *self, struct sink *out)
{
	struct stalls *s = self;
	uint64_t now_ns = clock_mono_ns();
	int first = 0;

	if (now_ns < s->due_ns) {
		go_on(s, now_ns);
		return report_pending(s, out) ? SOURCE_GOES_ON : SOURCE_ON_TIME;
	}
	s->due_ns = now_ns + (PERIOD_MS - STEP_MS / 2) * 1000000ull;
	for (int i = 0; i < KINDS; i++) {
		int r = s->watch[i].pressure.fd < 0
				? 0
				: watch_one(s, (enum stall_resource)i, now_ns, out);

		if (first == 0)
			first = r;
	}
	if (report_pending(s, out) && first == 0)
		return SOURCE_GOES_ON;
	return first;
}

const struct source source_stalls = {
	.name = "stalls",
	.help = "lasting waits for a CPU, a disk or memory, and the processes that cause them",
	.period_ms = PERIOD_MS,
	.step_ms = STEP_MS,
	.size = sizeof(struct stalls),
	.open = stalls_open,
	.read = stalls_read,
	.close = stalls_close,
};

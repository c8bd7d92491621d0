// SPDX-License-Identifier: Apache-2.0
/*
 * src_cgroup.c - CPU, memory, I/O, threads and limits of each cgroup, from cgroup files, and an
 * event for a cgroup that is throttled by its CPU quota.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/cgroup/cgroup_others.h"
#include "probe/cgroup/cgroup_path.h"
#include "probe/cgroup/cgroup_read.h"
#include "probe/procfs/proc_delta.h"
#include "probe/core/source.h"
#include "probe/source/cgroup/cpu_quota.h"

enum {
	WHOLE_TICKS = 6, /* even an idle cgroup is read completely this often */
	LOOK_TICKS = 30, /* recheck for files of controllers that were enabled later */
};

struct cgroup_source {
	struct cgroup_mounts mounts;
	struct cgroup_tree tree;
	struct cpu_quota throttles;
	struct buf text;
	uint64_t tick;
};

static void cgroup_close(void *self)
{
	struct cgroup_source *s = self;

	cgroup_mounts_close(&s->mounts);
	cgroup_tree_free(&s->tree);
	cpu_quota_free(&s->throttles);
	buf_free(&s->text);
}

static int cgroup_open(void *self, const struct probe_env *env)
{
	struct cgroup_source *s = self;
	int r = cgroup_mounts_open(&s->mounts, env->procfs);

	if (r < 0)
		snprintf(env->why, WHY_LEN,
			 "no cgroups are mounted here; mount cgroup2 at /sys/fs/cgroup");
	return r;
}

/* A cgroup that is new counts from 0. */
static void begin_with_0(struct cgroup_node *c)
{
	if (!c->born || !(c->in & ~c->was_in))
		return;
	for (int i = 0; i < CGROUP_END; i++)
		if (isnan(c->last[i]))
			c->last[i] = 0;
}

static bool is_idle(const double v[static CGROUP_END])
{
	for (uint32_t i = 0; i < CGROUP_END; i++)
		if (layout_cgroup.metrics[i].kind == METRIC_COUNTER && v[i] > 0)
			return false;
	return true;
}

static void send_cgroup(const struct cgroup_node *c, const double *v, struct sink *out)
{
	char name[ITEM_MAX_TEXT];

	cgroup_entity(c->path, name);
	sink_sample(out, &(struct sample_item){ layout_cgroup.layout, name, CGROUP_END, v });
}

/* A cgroup without a quota has no periods. */
static void watch_quota(struct cgroup_source *s, const struct cgroup_node *c, const double *v)
{
	if (v[CGROUP_CPU_PERIODS] > 0)
		cpu_quota_seen(&s->throttles, c->path,
			       &(struct throttled){
				       .periods = v[CGROUP_CPU_PERIODS],
				       .stopped = v[CGROUP_CPU_THROTTLED_PERIODS],
				       .seconds = v[CGROUP_CPU_THROTTLED],
				       .cpus = c->raw[CGROUP_CPU_QUOTA] / c->raw[CGROUP_CPU_PERIOD],
			       });
}

static void read_one(struct cgroup_source *s, struct cgroup_node *c, struct cgroup_others *others,
		     struct sink *out)
{
	const struct cgroup_node *parent = cgroup_tree_parent(&s->tree, c);
	double v[CGROUP_END];

	if (s->tick % LOOK_TICKS == 0)
		c->absent = 0;
	cgroup_read(&s->mounts, c, (s->tick + c->turn) % WHOLE_TICKS == 0, &s->text);
	begin_with_0(c);
	proc_delta(&layout_cgroup, c->raw, c->last, v);
	watch_quota(s, c, v);
	c->idle = is_idle(v) ? c->idle + 1 : 0;
	if (c->listed)
		send_cgroup(c, v, out);
	else
		cgroup_others_add(others, v, !parent || parent->listed);
}

static int cgroup_source_read(void *self, struct sink *out)
{
	struct cgroup_source *s = self;
	struct cgroup_others others;

	cgroup_tree_walk(&s->tree, &s->mounts);
	cgroup_others_begin(&others);
	for (uint32_t i = 0; i < s->tree.n; i++)
		read_one(s, s->tree.all[i], &others, out);
	if (others.n || s->tree.cut) {
		others.v[CGROUP_CGROUPS] = others.n + s->tree.cut;
		sink_sample(out, &(struct sample_item){ layout_cgroup.layout, "(others)",
							CGROUP_END, others.v });
	}
	cpu_quota_step(&s->throttles, clock_mono_ns(), clock_wall_ns(), out);
	s->tick++;
	return s->tree.n ? 0 : -ENOENT;
}

static const struct wire_dict *const layouts[] = { &layout_cgroup };

const struct source source_cgroup = {
	.name = "cgroup",
	.help = "CPU, memory, I/O and limits of each cgroup",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct cgroup_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = cgroup_open,
	.read = cgroup_source_read,
	.close = cgroup_close,
};

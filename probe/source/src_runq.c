// SPDX-License-Identifier: Apache-2.0
/*
 * src_runq.c - how long tasks waited for a CPU, by cgroup, from bpf/sched/runq.bpf.c. Its hook is
 * where every task leaves its CPU: it is there only while the kernel's pressure (PSI) says that
 * tasks wait, and of that time for a share; otherwise a read is one system call.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <stdio.h>

#include "bpf/sched/runq.h"
#include "lib/base/clock.h"
#include "probe/cgroup/cgroup_record.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/procfs/pressure.h"
#include "bpf/sched/runq.skel.h"
#include "probe/core/source.h"
#include "probe/kernel/sums.h"

enum { PERIOD_MS = 1000, SLACK_MS = 300 }; /* timers are late, never early */

#define MS 1000000ull
#define WAITING 0.05 /* of the time some task waited */

/* Their order in the kernel is the layout's. */
_Static_assert((int)CPUWAIT_END == (int)RUNQ_FIELDS, "runq_cgroup");
_Static_assert((int)CPUWAIT_SECONDS == (int)RUNQ_SLOTS, "runq_cgroup");

struct runq_source {
	struct runq_bpf *bpf;
	struct pressure pressure;
	struct sums cgroups;
	struct sink *out; /* during a read */
	uint64_t share; /* percent */
	uint32_t step; /* of it a 2^step-th part */
	uint64_t began_ns, told_ns; /* watched since, told of up to; 0: it is not watched */
	uint64_t next_ns; /* not watched before */
	uint64_t told_missed;
};

static void runq_close(void *self)
{
	struct runq_source *s = self;

	if (s->bpf)
		pressure_close(&s->pressure);
	runq_bpf__destroy(s->bpf);
	sums_free(&s->cgroups);
}

/* One for what has no place: it is never deleted, so that there is always one. */
static int make_others(struct runq_source *s)
{
	static const struct runq_cgroup others = { .at = { .len = sizeof("(others)"),
							   .path = "(others)" } };
	const uint64_t id = CGROUP_OTHERS;

	return bpf_map__update_elem(s->bpf->maps.cgroups, &id, sizeof(id), &others, sizeof(others),
				    BPF_NOEXIST);
}

static int load(struct runq_source *s, char *why)
{
	int r = kernel_tracepoint_args("sched_switch", why);

	if (r < 0)
		return r;
	s->bpf = runq_bpf__open();
	if (!s->bpf)
		return -errno;
	s->pressure.fd = -1;
	r = runq_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	return r < 0 ? kernel_say(r, why) : make_others(s);
}

static int runq_open(void *self, const struct probe_env *env)
{
	struct runq_source *s = self;
	char path[256];
	int r = kernel_can_load(env->why);

	if (env->config->cpu_wait_share <= 0) {
		snprintf(env->why, WHY_LEN, "turned off by cpu_wait_share = 0");
		return -ECANCELED;
	}
	s->share = (uint64_t)env->config->cpu_wait_share;
	s->cgroups = (struct sums){ .nkey = sizeof(uint64_t), .nfields = RUNQ_FIELDS };
	if (r == 0)
		r = load(s, env->why);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/pressure/cpu", env->procfs);
	r = pressure_open(&s->pressure, path);
	if (r < 0)
		snprintf(env->why, WHY_LEN,
			 "no pressure stall information (%s), which says when to look; boot with "
			 "psi=1, on a kernel with CONFIG_PSI=y",
			 strerror(-r));
	return r;
}

static int attach(struct runq_source *s, uint64_t now)
{
	s->bpf->links.on_switch = bpf_program__attach(s->bpf->progs.on_switch);
	if (!s->bpf->links.on_switch)
		return -errno;
	s->began_ns = s->told_ns = now;
	return 0;
}

static void detach(struct runq_source *s, uint64_t now)
{
	bpf_link__destroy(s->bpf->links.on_switch);
	s->bpf->links.on_switch = NULL;
	s->began_ns = 0;
	s->next_ns =
		now + PERIOD_MS * MS * ((100 << s->step) - s->share) / s->share - SLACK_MS * MS;
}

static void tell_cgroup(void *arg, const char *name, const double *since, const double *all)
{
	struct runq_source *s = arg;
	double v[CPUWAIT_END];

	(void)all;
	memcpy(v, since, sizeof(v));
	v[CPUWAIT_SECONDS] = (double)(float)(v[CPUWAIT_SECONDS] / 1e9);
	sink_sample(s->out, &(struct sample_item){ layout_cpuwait.layout, name, CPUWAIT_END, v });
}

static void tell_waits(struct runq_source *s)
{
	struct bpf_map *map = s->bpf->maps.cgroups;
	uint64_t id, last = 0;
	char name[ITEM_MAX_TEXT];
	struct runq_cgroup c;
	bool more = bpf_map__get_next_key(map, NULL, &id, sizeof(id)) == 0;

	for (int i = 0; more && i < 2 * RUNQ_CGROUPS; i++) {
		int r = bpf_map__lookup_elem(map, &id, sizeof(id), &c, sizeof(c), 0);

		last = id;
		more = bpf_map__get_next_key(map, &last, &id, sizeof(id)) == 0;
		if (r < 0 || !c.at.len)
			continue;
		if (!sums_knows(&s->cgroups, &last))
			cgroup_record_text(&c.at, last, name);
		if (last == CGROUP_OTHERS)
			snprintf(name, sizeof(name), "(others)");
		if (!sums_seen(&s->cgroups, &last, name, c.v, last == CGROUP_OTHERS))
			bpf_map__delete_elem(map, &last, sizeof(last), 0);
	}
	sums_tell(&s->cgroups, tell_cgroup, s);
}

static void tell(struct runq_source *s, uint64_t now)
{
	double watched = (double)(float)((double)(now - s->told_ns) / 1e9);
	double missed = (double)(s->bpf->bss->missed - s->told_missed);

	tell_waits(s);
	sink_sample(s->out,
		    &(struct sample_item){ layout_cpuwatch.layout, "", CPUWATCH_END, &watched });
	if (missed > 0)
		sink_sample(s->out, &(struct sample_item){ layout_cpuwaitloss.layout, "",
							   CPUWAITLOSS_END, &missed });
	s->told_missed = s->bpf->bss->missed;
	s->told_ns = now;
}

static int runq_read(void *self, struct sink *out)
{
	struct runq_source *s = self;
	uint64_t now = clock_mono_ns();
	double share;
	int r = pressure_read(&s->pressure, now, &share);

	if (r < 0)
		return r;
	if (s->bpf->bss->not_counted)
		return -EOPNOTSUPP; /* without CONFIG_SCHED_INFO */
	if (!s->began_ns)
		return share >= WAITING && now >= s->next_ns ? attach(s, now) : 0;
	s->out = out;
	tell(s, now);
	s->out = NULL;
	if (s->share < 100 || s->step || share < WAITING)
		detach(s, now);
	return 0;
}

/* How long was watched is told: what comes of it is as right as it was. */
static void runq_sample(void *self, uint32_t step)
{
	((struct runq_source *)self)->step = step;
}

static const struct wire_dict *const layouts[] = { &layout_cpuwait, &layout_cpuwatch,
						   &layout_cpuwaitloss };

const struct source source_runq = {
	.name = "runq",
	.help = "how long tasks of each cgroup waited for a CPU, while some wait",
	.period_ms = PERIOD_MS,
	.steady = true,
	.size = sizeof(struct runq_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = runq_open,
	.read = runq_read,
	.close = runq_close,
	.sampled = "the seconds that it would watch",
	.sample = runq_sample,
};

// SPDX-License-Identifier: Apache-2.0
/*
 * src_runq.c - how long tasks waited for a CPU, by cgroup, from bpf/sched/runq.bpf.c. Its hook runs
 * at every task switch, so it is attached only while pressure (PSI) reports waiting tasks, and for
 * a share of that time; otherwise a read is one system call.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <stdio.h>

#include "bpf/sched/runq.h"
#include "lib/base/clock.h"
#include "probe/cgroup/cgroup_record_text.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/procfs/pressure.h"
#include "bpf/sched/runq.skel.h"
#include "probe/core/source.h"
#include "probe/kernel/sums.h"

enum { PERIOD_MS = 1000, SLACK_MS = 300 }; /* timers are late, never early */

#define MS 1000000ull
#define WAITING 0.05 /* share of the time in which a task waited */

/* The kernel's order is that of the layout. */
_Static_assert((int)CPUWAIT_END == (int)RUNQ_FIELDS, "runq_cgroup");
_Static_assert((int)CPUWAIT_SECONDS == (int)RUNQ_SLOTS, "runq_cgroup");

struct runq_source {
	struct runq_bpf *bpf;
	struct pressure pressure;
	struct sums cgroups;
	struct sink *out; /* during a read */
	uint64_t share; /* percent */
	uint32_t step; /* the share is divided by 2^step */
	uint64_t began_ns, sent_ns; /* attached since, reported up to; 0: detached */
	uint64_t next_ns; /* earliest time to attach */
	uint64_t sent_missed;
};

static void runq_close(void *self)
{
	struct runq_source *s = self;

	if (s->bpf)
		pressure_close(&s->pressure);
	runq_bpf__destroy(s->bpf);
	sums_free(&s->cgroups);
}

/* The entry for everything that does not fit; never deleted. */
static int make_others(struct runq_source *s)
{
	static const struct runq_cgroup others = { .at = { .len = sizeof("(others)"),
							   .path = "(others)" } };
	const uint64_t id = CGROUP_OTHERS;

	return bpf_map__update_elem(s->bpf->maps.cgroups, &id, sizeof(id), &others, sizeof(others),
				    BPF_NOEXIST);
}

static int load_program(struct runq_source *s, char *why)
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
	return r < 0 ? kernel_explain(r, why) : make_others(s);
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
		r = load_program(s, env->why);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/pressure/cpu", env->procfs);
	r = pressure_open(&s->pressure, path);
	if (r < 0)
		snprintf(env->why, WHY_LEN,
			 "no pressure stall information (%s), which decides when to measure; boot "
			 "with psi=1, on a kernel with CONFIG_PSI=y",
			 strerror(-r));
	return r;
}

static int attach_hook(struct runq_source *s, uint64_t now)
{
	s->bpf->links.on_switch = bpf_program__attach(s->bpf->progs.on_switch);
	if (!s->bpf->links.on_switch)
		return -errno;
	s->began_ns = s->sent_ns = now;
	return 0;
}

static void detach_hook(struct runq_source *s, uint64_t now)
{
	bpf_link__destroy(s->bpf->links.on_switch);
	s->bpf->links.on_switch = NULL;
	s->began_ns = 0;
	s->next_ns =
		now + PERIOD_MS * MS * ((100 << s->step) - s->share) / s->share - SLACK_MS * MS;
}

static void send_cgroup(void *arg, const char *name, const double *since, const double *all)
{
	struct runq_source *s = arg;
	double v[CPUWAIT_END];

	(void)all;
	memcpy(v, since, sizeof(v));
	v[CPUWAIT_SECONDS] = (double)(float)(v[CPUWAIT_SECONDS] / 1e9);
	sink_sample(s->out, &(struct sample_item){ layout_cpuwait.layout, name, CPUWAIT_END, v });
}

static void send_waits(struct runq_source *s)
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
	sums_report(&s->cgroups, send_cgroup, s);
}

static void send_waits_and_loss(struct runq_source *s, uint64_t now)
{
	double watched = (double)(float)((double)(now - s->sent_ns) / 1e9);
	double missed = (double)(s->bpf->bss->missed - s->sent_missed);

	send_waits(s);
	sink_sample(s->out,
		    &(struct sample_item){ layout_cpuwatch.layout, "", CPUWATCH_END, &watched });
	if (missed > 0)
		sink_sample(s->out, &(struct sample_item){ layout_cpuwaitloss.layout, "",
							   CPUWAITLOSS_END, &missed });
	s->sent_missed = s->bpf->bss->missed;
	s->sent_ns = now;
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
		return share >= WAITING && now >= s->next_ns ? attach_hook(s, now) : 0;
	s->out = out;
	send_waits_and_loss(s, now);
	s->out = NULL;
	if (s->share < 100 || s->step || share < WAITING)
		detach_hook(s, now);
	return 0;
}

/* The watched time is sent too, so a smaller share only makes the values less precise. */
static void runq_sample(void *self, uint32_t step)
{
	((struct runq_source *)self)->step = step;
}

static const struct wire_dict *const layouts[] = { &layout_cpuwait, &layout_cpuwatch,
						   &layout_cpuwaitloss };

const struct source source_runq = {
	.name = "runq",
	.help = "waits of tasks for a CPU by cgroup, while there are any",
	.period_ms = PERIOD_MS,
	.steady = true,
	.size = sizeof(struct runq_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = runq_open,
	.read = runq_read,
	.close = runq_close,
	.sampled = "the watched seconds",
	.sample = runq_sample,
};

// SPDX-License-Identifier: Apache-2.0
/*
 * src_profile.c - continuous profile of the CPUs: kernel and user stacks at each tick of a slow
 * timer, from bpf/sched/oncpu.bpf.c, folded by functions and sent by app and minute. Idle CPUs add
 * nothing.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/sched/oncpu.h"
#include "lib/base/clock.h"
#include "probe/procfs/app.h"
#include "probe/kernel/cpu_clock.h"
#include "probe/source/profile/fold.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/source/profile/profile_window.h"
#include "bpf/sched/oncpu.skel.h"
#include "probe/cgroup/scope.h"
#include "probe/core/source.h"

#define SEC 1000000000ull

enum {
	PERIOD_MS = 1000,
	TICK_S = 10,
	NEW_S = 5, /* a new app is sent after this time */
	RING_LEAST = 128 * 1024,
	RING_MOST = 4 << 20,
};

struct profile_source {
	struct oncpu_bpf *bpf;
	struct cpu_clock *clock;
	struct ring_buffer *ring;
	struct apps *apps;
	struct fold *fold;
	struct profile_window *minute;
	uint32_t period_us;
	uint64_t now_ns, next_tick_ns, next_new_ns;
	uint64_t begin_ns; /* wall clock start of the current minute */
	double sent[PROFILELOSS_END];
};

static void on_name(void *arg, uint64_t was, uint64_t is)
{
	struct profile_source *s = arg;

	profile_window_named(s->minute, was, is);
}

static int on_record(void *arg, void *data, size_t len)
{
	const size_t least = offsetof(struct oncpu_sample, user);
	const struct oncpu_sample *r = data;
	struct profile_source *s = arg;
	char comm[ONCPU_COMM + 1];
	uint64_t kernel, user;

	if (len < least || r->nkernel > ONCPU_KERNEL ||
	    r->nuser > (len - least) / sizeof(r->user[0]))
		return 0;
	snprintf(comm, sizeof(comm), "%.*s", ONCPU_COMM, r->comm);
	kernel = fold_kernel(s->fold, r->kernel, r->nkernel);
	user = fold_user(s->fold, r->tgid, r->user, r->nuser);
	profile_window_add(s->minute, r->of_kernel ? "(kernel)" : apps_name(s->apps, r->tgid, comm),
			   kernel, user, r->of);
	return 0;
}

static void profile_close(void *self)
{
	struct profile_source *s = self;

	cpu_clock_close(s->clock);
	ring_buffer__free(s->ring);
	oncpu_bpf__destroy(s->bpf);
	apps_free(s->apps);
	fold_free(s->fold);
	profile_window_free(s->minute);
}

/* Room for the samples of all CPUs between two reads; most stacks are a third of the longest. */
static uint32_t ring_bytes(int64_t hz)
{
	uint64_t want = (uint64_t)hz * sizeof(struct oncpu_sample);
	uint32_t bytes = RING_LEAST;
	int ncpu = libbpf_num_possible_cpus();

	want *= ncpu > 0 ? (uint64_t)ncpu : 1;
	while (bytes < want && bytes < RING_MOST)
		bytes *= 2;
	return bytes;
}

static int load_program(struct profile_source *s, const struct probe_env *env)
{
	struct scope scope;
	int r = scope_find(env->config->scope, env->procfs, &scope, env->why);

	if (r == 0)
		r = kernel_can_load(env->why);
	if (r < 0)
		return r;
	s->bpf = oncpu_bpf__open();
	if (!s->bpf)
		return -errno;
	s->bpf->rodata->scope_id = scope.cgroup_id;
	s->bpf->rodata->scope_level = scope.level;
	bpf_map__set_max_entries(s->bpf->maps.ring, ring_bytes(env->config->profile));
	r = oncpu_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	return r < 0 ? kernel_explain(r, env->why) : 0;
}

static int profile_open(void *self, const struct probe_env *env)
{
	const int64_t hz = env->config->profile;
	struct profile_source *s = self;
	int r;

	if (hz <= 0) {
		snprintf(env->why, WHY_LEN, "turned off by profile = 0");
		return -ECANCELED;
	}
	r = load_program(s, env);
	if (r < 0)
		return r;
	s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.ring), on_record, s, NULL);
	if (!s->ring)
		return -errno;
	r = cpu_clock_open(&s->clock, s->bpf->progs.on_clock, (uint32_t)hz);
	if (r < 0) {
		cpu_clock_explain(r, env->why);
		return r;
	}
	s->apps = apps_new(env->procfs);
	s->fold = fold_new(env->procfs, on_name, s);
	s->minute = profile_window_new();
	s->period_us = (uint32_t)(1000000 / hz);
	s->begin_ns = clock_wall_ns() / (60 * SEC) * (60 * SEC);
	return 0;
}

static void send_losses(struct profile_source *s, struct sink *out)
{
	double v[PROFILELOSS_END];

	v[PROFILELOSS_RING_FULL] = (double)s->bpf->bss->ring_full;
	v[PROFILELOSS_FOLDED] = (double)profile_window_over(s->minute);
	v[PROFILELOSS_UNKNOWN] = (double)fold_unknown(s->fold);
	for (int i = 0; i < PROFILELOSS_END; i++) {
		double sum = v[i];

		v[i] -= s->sent[i];
		s->sent[i] = sum;
	}
	sink_sample(out,
		    &(struct sample_item){ layout_profileloss.layout, "", PROFILELOSS_END, v });
}

static int profile_read(void *self, struct sink *out)
{
	struct profile_source *s = self;
	uint64_t begins = clock_wall_ns() / (60 * SEC) * (60 * SEC);
	int r;

	s->now_ns = clock_mono_ns();
	fold_at(s->fold, out, s->now_ns);
	r = ring_buffer__consume(s->ring);
	fold_step(s->fold);
	if (begins != s->begin_ns || s->now_ns >= s->next_new_ns) {
		profile_window_send(s->minute, s->begin_ns, s->period_us, begins != s->begin_ns,
				    out);
		s->begin_ns = begins;
		s->next_new_ns = s->now_ns + NEW_S * SEC;
	}
	if (s->now_ns >= s->next_tick_ns) {
		s->next_tick_ns = s->now_ns + TICK_S * SEC;
		send_losses(s, out);
	}
	return r < 0 ? r : 0;
}

static void profile_sample(void *self, uint32_t step)
{
	((struct profile_source *)self)->bpf->bss->sample_step = step;
}

static const struct wire_dict *const layouts[] = { &layout_profileloss };

const struct source source_profile = {
	.name = "profile",
	.help = "continuous CPU profile: stacks by app and minute",
	.period_ms = PERIOD_MS,
	.steady = true,
	.size = sizeof(struct profile_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = profile_open,
	.read = profile_read,
	.close = profile_close,
	.ring_max = RING_MOST,
	.sampled = "its samples",
	.sample = profile_sample,
};

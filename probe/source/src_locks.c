// SPDX-License-Identifier: Apache-2.0
/* src_locks.c - waits for kernel locks, from bpf/sched/locks.bpf.c; on demand only. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/sched/locks.h"
#include "probe/symbol/kernel/ksym_cache.h"
#include "probe/kernel/kernel_load.h"
#include "probe/symbol/kernel/ksym_range.h"
#include "probe/core/layout.h"
#include "bpf/sched/locks.skel.h"
#include "probe/kernel/map_sums.h"
#include "probe/core/source.h"

/* The kernel's order is that of the layout. */
_Static_assert((int)LOCKS_END == (int)LOCKS_FIELDS && (int)LOCKS_SECONDS == (int)LOCKS_NS &&
		       (int)LOCKS_US_1 == (int)LOCKS_LATENCY,
	       "locks");

static const struct locks_key others = { .kind = LOCKS_OTHERS };

struct locks_source {
	struct locks_bpf *bpf;
	struct ksym_cache *names;
	struct sums entries;
	struct sink *out; /* during a read */
	uint64_t sent_missed;
};

static void locks_close(void *self)
{
	struct locks_source *s = self;

	locks_bpf__destroy(s->bpf);
	ksym_cache_free(s->names);
	sums_free(&s->entries);
}

/* Functions that wait for locks are in sections of their own; before 6.2 spinning ones are not. */
static int fill_ranges(struct locks_source *s, const struct probe_env *env)
{
	struct ksym_range of[] = {
		{ .name = "__sched_text_start" },
		{ .name = "__sched_text_end" },
		{ .name = "__lock_text_start" },
		{ .name = "__lock_text_end" },
		{ .name = "native_queued_spin_lock_slowpath" },
		{ .name = "__pv_queued_spin_lock_slowpath" },
		{ .name = "queued_read_lock_slowpath" },
		{ .name = "queued_write_lock_slowpath" },
	};
	int r = ksym_ranges(env->procfs, of, ARRAY_SIZE(of)), n = 0;

	if (r < 0 || !of[0].from || !of[1].from || !of[2].from || !of[3].from) {
		snprintf(env->why, WHY_LEN,
			 "%s/kallsyms shows no addresses of functions; start as root, with "
			 "kernel.kptr_restrict below 2",
			 env->procfs);
		return r < 0 ? r : -EACCES;
	}
	of[0].to = of[1].from;
	of[2].to = of[3].from;
	of[1].from = of[3].from = 0;
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		if (of[i].from)
			s->bpf->rodata->waits[n++] = (struct locks_range){ of[i].from, of[i].to };
	return 0;
}

static int load_program(struct locks_source *s, const struct probe_env *env)
{
	static const struct locks_entry none;
	int r;

	s->bpf = locks_bpf__open();
	if (!s->bpf)
		return -errno;
	r = fill_ranges(s, env);
	if (r < 0)
		return r;
	r = locks_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	/* the entry for everything that does not fit; never deleted */
	return bpf_map__update_elem(s->bpf->maps.entries, &others, sizeof(others), &none,
				    sizeof(none), BPF_NOEXIST);
}

static int locks_open(void *self, const struct probe_env *env)
{
	struct locks_source *s = self;
	int r = kernel_can_load(env->why);

	s->entries = (struct sums){ .nkey = sizeof(struct locks_key), .nfields = LOCKS_FIELDS };
	if (r < 0)
		return r;
	r = kernel_tracepoint_args("contention_begin", env->why);
	if (r < 0) {
		snprintf(env->why, WHY_LEN,
			 "no tracepoint contention_begin in this kernel; needs 5.19 or later");
		return r;
	}
	s->names = ksym_cache_new(env->procfs);
	r = load_program(s, env);
	return r < 0 ? r : kernel_explain(locks_bpf__attach(s->bpf), env->why);
}

static const char *kind_of(uint32_t kind)
{
	const bool shared = kind & LOCK_READ, write = kind & LOCK_WRITE;

	if (kind & LOCK_PERCPU)
		return write ? "per-CPU rwsem, to write" : "per-CPU rwsem, to read";
	if (kind & LOCK_RT)
		return "rt mutex";
	if (kind & LOCK_SPIN)
		return shared ? "rwlock, to read" : write ? "rwlock, to write" : "spinlock";
	return shared ? "rwsem, to read" : write ? "rwsem, to write" : "mutex";
}

static bool name_of(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT])
{
	struct locks_source *s = arg;
	struct locks_key k;
	const char *found;

	(void)value;
	memcpy(&k, key, sizeof(k));
	found = k.caller ? ksym_cache_of(s->names, k.caller) : "?";
	if (k.kind == LOCKS_OTHERS)
		snprintf(name, ITEM_MAX_TEXT, "(others)");
	else
		snprintf(name, ITEM_MAX_TEXT, "%s in %s", kind_of(k.kind), found ? found : "?");
	return found;
}

static void send_entry(void *arg, const char *name, const double *since, const double *all)
{
	struct locks_source *s = arg;
	double v[LOCKS_END];

	(void)all;
	memcpy(v, since, sizeof(v));
	v[LOCKS_SECONDS] = (double)(float)(v[LOCKS_SECONDS] / 1e9);
	sink_sample(s->out, &(struct sample_item){ layout_locks.layout, name, LOCKS_END, v });
}

static int locks_read(void *self, struct sink *out)
{
	struct locks_source *s = self;
	double missed = (double)(s->bpf->bss->missed - s->sent_missed);

	s->sent_missed = s->bpf->bss->missed;
	ksym_cache_step(s->names);
	map_sums_read(&(struct map_sums){
		.map = s->bpf->maps.entries,
		.sums = &s->entries,
		.others = &others,
		.name = name_of,
		.arg = s,
	});
	s->out = out;
	sums_report(&s->entries, send_entry, s);
	s->out = NULL;
	if (missed > 0)
		sink_sample(out, &(struct sample_item){ layout_lockloss.layout, "", LOCKLOSS_END,
							&missed });
	return 0;
}

static void locks_sample(void *self, uint32_t step)
{
	((struct locks_source *)self)->bpf->bss->sample_step = step;
}

static const struct wire_dict *const layouts[] = { &layout_locks, &layout_lockloss };

const struct source source_locks = {
	.name = "locks",
	.help = "waits for kernel locks, by kind and waiting function",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct locks_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = locks_open,
	.read = locks_read,
	.close = locks_close,
	.sampled = "waits for locks",
	.sample = locks_sample,
};

// SPDX-License-Identifier: Apache-2.0
/* src_dentries.c - dentry cache misses by cgroup, from bpf/disk/dentries.bpf.c; on demand only. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "bpf/disk/dentries.h"
#include "probe/cgroup/cgroup_record_text.h"
#include "bpf/disk/dentries.skel.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/kernel/kernel_load.h"
#include "probe/symbol/kernel/ksym_range.h"
#include "probe/core/layout.h"
#include "probe/kernel/map_sums.h"
#include "probe/core/source.h"

static const uint64_t others_id = CGROUP_OTHERS;

struct dentries_source {
	struct dentries_bpf *bpf;
	struct sums cgroups;
	struct sink *out; /* during a read */
};

static void dentries_close(void *self)
{
	struct dentries_source *s = self;

	dentries_bpf__destroy(s->bpf);
	sums_free(&s->cgroups);
}

/* The tracepoint has the cache as its third argument. */
static bool has_cache_arg(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_kmem_cache_alloc", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t) || btf_vlen(t) < 4)
		return false;
	t = btf__type_by_id(btf, btf_params(t)[3].type); /* the first belongs to the callback */
	return t && btf_is_ptr(t);
}

static int load_program(struct dentries_source *s, const struct probe_env *env)
{
	static const struct dentries_cgroup others = { .at = { .len = sizeof("(others)"),
							       .path = "(others)" } };
	struct ksym_range made = { .name = "d_alloc_pseudo" };
	int r = ksym_ranges(env->procfs, &made, 1);

	if (r <= 0) {
		snprintf(env->why, WHY_LEN,
			 "%s/kallsyms shows no addresses of functions; start as root, with "
			 "kernel.kptr_restrict below 2",
			 env->procfs);
		return r < 0 ? r : -EACCES;
	}
	s->bpf = dentries_bpf__open();
	if (!s->bpf)
		return -errno;
	s->bpf->rodata->nameless_from = made.from;
	s->bpf->rodata->nameless_to = made.to;
	r = dentries_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	/* the entry for everything that does not fit; never deleted */
	return bpf_map__update_elem(s->bpf->maps.cgroups, &others_id, sizeof(others_id), &others,
				    sizeof(others), BPF_NOEXIST);
}

static int dentries_open(void *self, const struct probe_env *env)
{
	struct dentries_source *s = self;
	int r = kernel_can_load(env->why);
	const struct btf *btf;

	s->cgroups = (struct sums){ .nkey = sizeof(uint64_t), .nfields = DENTRIES_END };
	if (r < 0)
		return r;
	btf = kernel_btf();
	r = btf && has_cache_arg(btf) ? 0 : -ENOENT;
	if (r < 0) {
		snprintf(env->why, WHY_LEN,
			 "the tracepoint kmem_cache_alloc of this kernel does not report the "
			 "cache; needs 6.1 or later");
		return r;
	}
	r = load_program(s, env);
	return r < 0 ? r : kernel_explain(dentries_bpf__attach(s->bpf), env->why);
}

static bool name_of(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT])
{
	const struct dentries_cgroup *c = value;
	uint64_t id;

	(void)arg;
	memcpy(&id, key, sizeof(id));
	if (!c->at.len)
		return false;
	if (id == CGROUP_OTHERS)
		snprintf(name, ITEM_MAX_TEXT, "(others)");
	else
		cgroup_record_text(&c->at, id, name);
	return true;
}

static void send_cgroup(void *arg, const char *name, const double *since, const double *all)
{
	struct dentries_source *s = arg;

	(void)all;
	sink_sample(s->out,
		    &(struct sample_item){ layout_dentries.layout, name, DENTRIES_END, since });
}

static int dentries_read(void *self, struct sink *out)
{
	struct dentries_source *s = self;

	map_sums_read(&(struct map_sums){
		.map = s->bpf->maps.cgroups,
		.sums = &s->cgroups,
		.others = &others_id,
		.name = name_of,
	});
	s->out = out;
	sums_report(&s->cgroups, send_cgroup, s);
	s->out = NULL;
	return 0;
}

static void dentries_sample(void *self, uint32_t step)
{
	((struct dentries_source *)self)->bpf->bss->sample_step = step;
}

static const struct wire_dict *const layouts[] = { &layout_dentries };

const struct source source_dentries = {
	.name = "dentries",
	.help = "dentry cache misses, by cgroup",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct dentries_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = dentries_open,
	.read = dentries_read,
	.close = dentries_close,
	.sampled = "created dentries",
	.sample = dentries_sample,
};

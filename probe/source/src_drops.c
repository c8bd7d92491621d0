// SPDX-License-Identifier: Apache-2.0
/* src_drops.c - packets dropped by the kernel, by reason, from bpf/net/drops.bpf.c. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/net/drops.h"
#include "bpf/net/drops.skel.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"

enum { NAME_LEN = 40, ARGS = 3 };

struct drops_source {
	struct drops_bpf *bpf;
	struct kernel_counts counts;
	uint64_t sent[DROPS_REASONS];
	char name[DROPS_REASONS][NAME_LEN]; /* "": the kernel has no such reason */
};

static void drops_close(void *self)
{
	struct drops_source *s = self;

	kernel_counts_close(&s->counts);
	drops_bpf__destroy(s->bpf);
}

/* Reads the reason numbers of the running kernel: they differ between versions. */
static void names_read(struct drops_source *s, const struct btf *btf, const struct btf_type *list)
{
	static const char prefix[] = "SKB_DROP_REASON_";

	snprintf(s->name[DROPS_OTHER], NAME_LEN, "OTHER");
	for (int i = 0; i < btf_vlen(list); i++) {
		const struct btf_enum *e = btf_enum(list) + i;
		const char *name = btf__name_by_offset(btf, e->name_off);

		if (e->val > DROPS_OTHER && e->val < DROPS_REASONS &&
		    strncmp(name, prefix, sizeof(prefix) - 1) == 0)
			snprintf(s->name[e->val], NAME_LEN, "%s", name + sizeof(prefix) - 1);
	}
}

/* False: the tracepoint has no reason argument, or the kernel has no list of reasons. */
static bool reasons_known(struct drops_source *s)
{
	const struct btf *btf = kernel_btf();
	int id = btf ? btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM) : -ENOENT;
	bool known = id > 0 && kernel_args_in(btf, "kfree_skb") >= ARGS;

	if (known)
		names_read(s, btf, btf__type_by_id(btf, (__u32)id));
	return known;
}

static int drops_open(void *self, const struct probe_env *env)
{
	struct drops_source *s = self;
	int r = kernel_can_load(env->why);

	if (r < 0)
		return r;
	if (!reasons_known(s)) {
		snprintf(env->why, WHY_LEN,
			 "this kernel does not report why it drops packets; needs 5.17 or later");
		return -EOPNOTSUPP;
	}
	s->bpf = drops_bpf__open();
	if (!s->bpf)
		return -errno;
	r = kernel_counts_size(s->bpf->maps.counts);
	if (r == 0)
		r = drops_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = kernel_counts_open(&s->counts, s->bpf->maps.counts);
	if (r < 0)
		return r;
	s->bpf->links.on_drop = bpf_program__attach(s->bpf->progs.on_drop);
	return s->bpf->links.on_drop ? 0 : -errno;
}

/* Most reasons never occur: only those that did are sent. */
static int drops_read(void *self, struct sink *out)
{
	struct drops_source *s = self;
	for (uint32_t i = 0; i < DROPS_REASONS; i++) {
		uint64_t n = kernel_counts_sum(&s->counts, i);
		double v;

		if (n == s->sent[i] || !s->name[i][0])
			continue;
		v = (double)(n - s->sent[i]);
		s->sent[i] = n;
		sink_sample(out,
			    &(struct sample_item){ layout_drop.layout, s->name[i], DROP_END, &v });
	}
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_drop };

const struct source source_drops = {
	.name = "drops",
	.help = "packets dropped by the kernel, by reason",
	.period_ms = 2000,
	.steady = true,
	.size = sizeof(struct drops_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = drops_open,
	.read = drops_read,
	.close = drops_close,
};

// SPDX-License-Identifier: Apache-2.0
/* src_reclaim.c - time of tasks in direct reclaim and compaction, from bpf/memory/reclaim.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/memory/reclaim.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "bpf/memory/reclaim.skel.h"
#include "probe/core/source.h"

enum { COUNTS = RECLAIM_KINDS * RECLAIM_SLOTS };

/* The kernel's order is that of the layout. */
_Static_assert(RECLAIM_END * sizeof(__u64) == sizeof(struct reclaim_counts), "reclaim_counts");
_Static_assert((int)RECLAIM_NODE_SECONDS == (int)COUNTS, "reclaim_counts");

struct reclaim_source {
	struct reclaim_bpf *bpf;
	struct reclaim_counts *percpu;
	int ncpu;
	uint64_t sent[RECLAIM_END], sent_full;
};

static void reclaim_close(void *self)
{
	struct reclaim_source *s = self;

	reclaim_bpf__destroy(s->bpf);
	free(s->percpu);
}

static int reclaim_open(void *self, const struct probe_env *env)
{
	struct reclaim_source *s = self;
	int r = kernel_can_load(env->why);

	if (r == 0 && kernel_tracepoint_args("mm_vmscan_direct_reclaim_begin", env->why) < 0)
		r = -ENOENT;
	if (r == 0 && kernel_tracepoint_args("mm_compaction_begin", env->why) < 0)
		r = -ENOENT;
	if (r < 0)
		return r;
	s->ncpu = libbpf_num_possible_cpus();
	s->ncpu = s->ncpu > 0 ? s->ncpu : 1;
	s->percpu = calloc((size_t)s->ncpu, sizeof(*s->percpu));
	if (!s->percpu)
		return -ENOMEM;
	s->bpf = reclaim_bpf__open();
	if (!s->bpf)
		return -errno;
	if (kernel_tracepoint_args("mm_vmscan_memcg_reclaim_begin", env->why) < 0) {
		bpf_program__set_autoload(s->bpf->progs.cgroup_begins, false);
		bpf_program__set_autoload(s->bpf->progs.cgroup_ends, false);
	}
	r = reclaim_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	return r < 0 ? kernel_explain(r, env->why) : reclaim_bpf__attach(s->bpf);
}

static uint64_t count_of(const struct reclaim_source *s, int i)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < s->ncpu; cpu++) {
		const __u64 *n = s->percpu[cpu].ns[0]; /* and the fields after it */

		sum += n[i];
	}
	return sum;
}

/* Most nodes never reclaim directly: only what happened is sent. */
static int reclaim_read(void *self, struct sink *out)
{
	struct reclaim_source *s = self;
	uint32_t zero = 0;
	bool any = false;
	double v[RECLAIM_END], loss = (double)(s->bpf->bss->full - s->sent_full);

	if (bpf_map_lookup_elem(bpf_map__fd(s->bpf->maps.counts), &zero, s->percpu) < 0)
		return -errno;
	for (int i = 0; i < RECLAIM_END; i++) {
		uint64_t now = count_of(s, i), since = now - s->sent[i];

		any |= since != 0;
		v[i] = i < COUNTS ? (double)since : (double)(float)((double)since / 1e9);
		s->sent[i] = now;
	}
	if (any)
		sink_sample(out,
			    &(struct sample_item){ layout_reclaim.layout, "", RECLAIM_END, v });
	if (loss > 0)
		sink_sample(out, &(struct sample_item){ layout_reclaimloss.layout, "",
							RECLAIMLOSS_END, &loss });
	s->sent_full = s->bpf->bss->full;
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_reclaim, &layout_reclaimloss };

const struct source source_reclaim = {
	.name = "reclaim",
	.help = "time of tasks in direct reclaim and compaction",
	.period_ms = 2000,
	.size = sizeof(struct reclaim_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = reclaim_open,
	.read = reclaim_read,
	.close = reclaim_close,
};

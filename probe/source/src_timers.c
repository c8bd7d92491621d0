// SPDX-License-Identifier: Apache-2.0
/* src_timers.c - expired timers by the function they call, from bpf/sched/timers.bpf.c. */
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/sched/timers.h"
#include "probe/symbol/kernel/ksym_cache.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/kernel/map_sums.h"
#include "probe/core/source.h"
#include "bpf/sched/timers.skel.h"

/* The kernel's order is that of the layout. */
_Static_assert((int)TIMERS_WHEEL == (int)TIMER_WHEEL && (int)TIMERS_END == (int)TIMER_KINDS,
	       "timers");

struct timers_source {
	struct timers_bpf *bpf;
	struct kernel_counts counts;
	struct ksym_cache *names;
	struct sums functions;
	uint64_t sent[TIMER_KINDS];
	struct sink *out; /* during a read */
};

static void timers_close(void *self)
{
	struct timers_source *s = self;

	kernel_counts_close(&s->counts);
	timers_bpf__destroy(s->bpf);
	ksym_cache_free(s->names);
	sums_free(&s->functions);
}

static int timers_open(void *self, const struct probe_env *env)
{
	struct timers_source *s = self;
	int r = kernel_can_load(env->why);

	s->functions = (struct sums){ .nkey = sizeof(uint64_t), .nfields = TIMERFN_END };
	if (r < 0)
		return r;
	s->bpf = timers_bpf__open();
	if (!s->bpf)
		return -errno;
	r = kernel_counts_size(s->bpf->maps.counts);
	if (r == 0)
		r = timers_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	s->names = ksym_cache_new(env->procfs);
	r = kernel_counts_open(&s->counts, s->bpf->maps.counts);
	return r < 0 ? r : timers_bpf__attach(s->bpf);
}

static bool name_of(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT])
{
	struct timers_source *s = arg;
	uint64_t addr;
	const char *found;

	(void)value;
	memcpy(&addr, key, sizeof(addr));
	found = ksym_cache_of(s->names, addr);
	snprintf(name, ITEM_MAX_TEXT, "%s", found ? found : "");
	return found;
}

static void send_function(void *arg, const char *name, const double *since, const double *all)
{
	struct timers_source *s = arg;

	(void)all;
	sink_sample(s->out,
		    &(struct sample_item){ layout_timerfn.layout, name, TIMERFN_END, since });
}

static int timers_read(void *self, struct sink *out)
{
	struct timers_source *s = self;
	double v[TIMERS_END];

	for (uint32_t i = 0; i < TIMER_KINDS; i++) {
		uint64_t n = kernel_counts_sum(&s->counts, i);

		v[i] = (double)(n - s->sent[i]);
		s->sent[i] = n;
	}
	sink_sample(out, &(struct sample_item){ layout_timers.layout, "", TIMERS_END, v });
	ksym_cache_step(s->names);
	map_sums_read(&(struct map_sums){
		.map = s->bpf->maps.functions,
		.sums = &s->functions,
		.name = name_of,
		.arg = s,
	});
	s->out = out;
	sums_report(&s->functions, send_function, s);
	s->out = NULL;
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_timers, &layout_timerfn };

const struct source source_timers = {
	.name = "timers",
	.help = "expired timers, by the function they call",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct timers_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = timers_open,
	.read = timers_read,
	.close = timers_close,
};

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "probe/kernel/cpu_clock.h"
#include "bpf/files/files.skel.h"
#include "probe/source/files/files_calls.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/source.h"

struct files_kernel {
	struct files_bpf *bpf;
	struct ring_buffer *ring;
	struct kernel_counts counts;
	struct cpu_clock *clock;
	struct switch_chain *chain;
};

void files_kernel_close(struct files_kernel *k)
{
	if (!k)
		return;
	switch_chain_end(k->chain);
	cpu_clock_close(k->clock);
	ring_buffer__free(k->ring);
	kernel_counts_close(&k->counts);
	files_bpf__destroy(k->bpf);
	free(k);
}

/* Without the clock, operations that never sleep, and the ends of those that do, would be missed.
 */
static int start_clock(struct files_kernel *k, const struct files_clock *c, char *why)
{
	uint32_t hz = (uint32_t)(1000000000 / c->period_ns);
	int r;

	if (c->ticks) {
		k->bpf->links.on_tick = bpf_program__attach(k->bpf->progs.on_tick);
		return k->bpf->links.on_tick ? 0 : -errno;
	}
	r = cpu_clock_open(&k->clock, k->bpf->progs.on_sample, hz);
	if (r < 0)
		cpu_clock_explain(r, why);
	return r;
}

static int load_program(struct files_kernel *k, const struct files_how *how, char *why)
{
	int args = kernel_tracepoint_args("sched_switch", why), r;

	if (args < 0)
		return args;
	k->bpf = files_bpf__open();
	if (!k->bpf)
		return -errno;
	files_calls_fill(k->bpf->rodata->call_of);
	k->bpf->rodata->switch_args = (uint32_t)args;
	k->bpf->rodata->jumps = kernel_jumps();
	k->bpf->rodata->slow_ns = how->slow_ns;
	k->bpf->rodata->period_ns = how->clock.period_ns;
	k->bpf->rodata->least_ns = how->clock.least_ns;
	k->bpf->rodata->own_tgid = (uint32_t)getpid();
	k->bpf->rodata->scope_id = how->scope.cgroup_id;
	k->bpf->rodata->scope_level = how->scope.level;
	bpf_program__set_autoload(
		how->clock.ticks ? k->bpf->progs.on_sample : k->bpf->progs.on_tick, false);
	r = kernel_counts_size(k->bpf->maps.counts);
	if (r == 0)
		r = files_bpf__load(k->bpf);
	kernel_loaded(k->bpf->skeleton->data, k->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, why);
	return kernel_counts_open(&k->counts, k->bpf->maps.counts);
}

static int start_hooks(struct files_kernel *k, const struct files_clock *clock, char *why)
{
	int r = start_clock(k, clock, why);

	if (r < 0)
		return r;
	k->bpf->links.on_switch = bpf_program__attach(k->bpf->progs.on_switch);
	return k->bpf->links.on_switch ? 0 : -errno;
}

int files_kernel_open(struct files_kernel **out, const struct files_how *how,
		      int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why)
{
	struct files_kernel *k;
	int r = kernel_can_load(why);

	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		die("out of memory");
	r = load_program(k, how, why);
	if (r == 0)
		r = start_hooks(k, &how->clock, why);
	if (r == 0) {
		k->ring = ring_buffer__new(bpf_map__fd(k->bpf->maps.ring), on_record, arg, NULL);
		r = k->ring ? 0 : -errno;
	}
	if (r < 0) {
		files_kernel_close(k);
		return r;
	}
	if (k->bpf->rodata->jumps) {
		k->chain = how->chain;
		switch_chain_first(k->chain, k->bpf->maps.second);
	}
	*out = k;
	return 0;
}

int files_kernel_read(struct files_kernel *k)
{
	return ring_buffer__consume(k->ring);
}

int files_kernel_ring(const struct files_kernel *k)
{
	return bpf_map__fd(k->bpf->maps.ring);
}

void files_kernel_stats(struct files_kernel *k, uint64_t out[static FILE_STAT_END])
{
	for (uint32_t i = 0; i < FILE_STAT_END; i++)
		out[i] = kernel_counts_sum(&k->counts, i);
}

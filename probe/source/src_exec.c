// SPDX-License-Identifier: Apache-2.0
/* src_exec.c - executed programs, and exits of processes by outcome, from bpf/sched/exec.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/sched/exec.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"
#include "bpf/sched/exec.skel.h"
#include "probe/kernel/sums.h"

static const struct exec_program others = { "(others)" };

/* The kernel's order is that of the layouts. */
_Static_assert((int)STARTS_END == (int)STARTS_FIELDS, "starts");
_Static_assert((int)PROGRAMSTARTS_END == (int)STARTS_FIELDS, "starts");

struct starts_source {
	struct exec_bpf *bpf;
	struct kernel_counts counts;
	struct sums programs;
	uint64_t sent[STARTS_FIELDS];
	struct sink *out; /* during a read */
};

static void starts_close(void *self)
{
	struct starts_source *s = self;

	kernel_counts_close(&s->counts);
	exec_bpf__destroy(s->bpf);
	sums_free(&s->programs);
}

static int starts_open(void *self, const struct probe_env *env)
{
	static const struct exec none;
	struct starts_source *s = self;
	int r = kernel_can_load(env->why);

	s->programs = (struct sums){ .nkey = STARTS_NAME, .nfields = STARTS_FIELDS };
	if (r < 0)
		return r;
	s->bpf = exec_bpf__open();
	if (!s->bpf)
		return -errno;
	r = kernel_counts_size(s->bpf->maps.counts);
	if (r == 0)
		r = exec_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = kernel_counts_open(&s->counts, s->bpf->maps.counts);
	if (r == 0)
		r = bpf_map__update_elem(s->bpf->maps.programs, &others, sizeof(others), &none,
					 sizeof(none), BPF_NOEXIST);
	return r < 0 ? r : exec_bpf__attach(s->bpf);
}

static void send_program(void *arg, const char *name, const double *since, const double *all)
{
	struct starts_source *s = arg;

	(void)all;
	sink_sample(s->out, &(struct sample_item){ layout_programstarts.layout, name,
						   PROGRAMSTARTS_END, since });
}

static void read_programs(struct starts_source *s)
{
	struct bpf_map *map = s->bpf->maps.programs;
	struct exec_program p, last;
	char name[STARTS_NAME + 1] = "";
	struct exec n;
	bool more = bpf_map__get_next_key(map, NULL, &p, sizeof(p)) == 0;

	for (int i = 0; more && i < 2 * STARTS_PROGRAMS; i++) {
		int r = bpf_map__lookup_elem(map, &p, sizeof(p), &n, sizeof(n), 0);

		last = p;
		more = bpf_map__get_next_key(map, &last, &p, sizeof(p)) == 0;
		if (r < 0)
			continue;
		memcpy(name, last.name, STARTS_NAME);
		if (!sums_seen(&s->programs, &last, name, n.v,
			       memcmp(&last, &others, sizeof(last)) == 0))
			bpf_map__delete_elem(map, &last, sizeof(last), 0);
	}
	sums_report(&s->programs, send_program, s);
}

static int starts_read(void *self, struct sink *out)
{
	struct starts_source *s = self;
	double v[STARTS_END];

	for (uint32_t i = 0; i < STARTS_FIELDS; i++) {
		uint64_t n = kernel_counts_sum(&s->counts, i);

		v[i] = (double)(n - s->sent[i]);
		s->sent[i] = n;
	}
	sink_sample(out, &(struct sample_item){ layout_starts.layout, "", STARTS_END, v });
	s->out = out;
	read_programs(s);
	s->out = NULL;
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_starts, &layout_programstarts };

const struct source source_starts = {
	.name = "starts",
	.help = "program starts and process exits, by outcome",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct starts_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = starts_open,
	.read = starts_read,
	.close = starts_close,
};

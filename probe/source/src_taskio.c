// SPDX-License-Identifier: Apache-2.0
/* src_taskio.c - bytes and calls of I/O of each cgroup and program, from bpf/disk/taskio.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "bpf/disk/taskio.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/cgroup/cgroup_record_text.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"
#include "probe/kernel/sums.h"
#include "bpf/disk/taskio.skel.h"

/* The kernel's order is that of the layouts. */
_Static_assert((int)CGROUPIO_CACHED == (int)TASKIO_CACHED, "taskio");
_Static_assert((int)CGROUPIO_END == (int)TASKIO_FIELDS, "taskio");
_Static_assert((int)PROGRAMIO_END == (int)TASKIO_FIELDS, "taskio");

/* The kernel occasionally refuses an update while that CPU is busy with another; the next read
 * catches up. Only this many lossy reads in a row are reported. */
enum { LOSING = 3 };

struct taskio_source {
	struct taskio_bpf *bpf;
	struct sums cgroups, programs;
	double node[PAGECACHE_END]; /* sum of all cgroups, during a read */
	struct sink *out; /* likewise */
	uint64_t lost; /* as of the last read */
	int losing; /* reads in a row with losses */
};

static void taskio_close(void *self)
{
	struct taskio_source *s = self;

	taskio_bpf__destroy(s->bpf);
	sums_free(&s->cgroups);
	sums_free(&s->programs);
}

/* The entries for everything that does not fit; never deleted. */
static int make_others(struct taskio_source *s)
{
	static const struct taskio_cgroup cgroup = { .at = { .len = sizeof("(others)"),
							     .path = "(others)" } };
	static const struct taskio_program program = { "(others)" };
	static const struct taskio none;
	const uint64_t id = CGROUP_OTHERS;
	int r = bpf_map_update_elem(bpf_map__fd(s->bpf->maps.cgroups), &id, &cgroup, BPF_NOEXIST);

	if (r < 0)
		return -errno;
	r = bpf_map_update_elem(bpf_map__fd(s->bpf->maps.programs), &program, &none, BPF_NOEXIST);
	return r < 0 ? -errno : 0;
}

static int taskio_open(void *self, const struct probe_env *env)
{
	struct taskio_source *s = self;
	int r = kernel_can_load(env->why);

	s->cgroups = (struct sums){ .nkey = sizeof(uint64_t), .nfields = TASKIO_FIELDS };
	s->programs = (struct sums){ .nkey = TASKIO_NAME, .nfields = TASKIO_FIELDS };
	if (r < 0)
		return r;
	s->bpf = taskio_bpf__open();
	if (!s->bpf)
		return -ENOMEM;
	s->bpf->rodata->begin_ns = clock_mono_ns();
	r = taskio_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = make_others(s);
	if (r < 0)
		return r;
	r = taskio_bpf__attach(s->bpf);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = kernel_iterate(s->bpf->links.on_look);
	if (r == 0 && s->bpf->bss->not_counted) {
		snprintf(env->why, WHY_LEN,
			 "this kernel does not count the I/O of tasks; boot one with "
			 "CONFIG_TASK_IO_ACCOUNTING=y");
		return -EOPNOTSUPP;
	}
	return r;
}

static void read_cgroups(struct taskio_source *s)
{
	struct bpf_map *map = s->bpf->maps.cgroups;
	uint64_t id, last = 0;
	char name[ITEM_MAX_TEXT];
	struct taskio_cgroup c;
	bool more = bpf_map__get_next_key(map, NULL, &id, sizeof(id)) == 0;

	for (int i = 0; more && i < 2 * TASKIO_CGROUPS; i++) {
		int r = bpf_map__lookup_elem(map, &id, sizeof(id), &c, sizeof(c), 0);

		last = id;
		more = bpf_map__get_next_key(map, &last, &id, sizeof(id)) == 0;
		if (r < 0 || !c.at.len)
			continue;
		if (last == CGROUP_OTHERS)
			snprintf(name, sizeof(name), "(others)");
		else if (!sums_knows(&s->cgroups, &last))
			cgroup_record_text(&c.at, last, name);
		if (!sums_seen(&s->cgroups, &last, name, c.io.v, last == CGROUP_OTHERS))
			bpf_map__delete_elem(map, &last, sizeof(last), 0);
	}
}

static void read_programs(struct taskio_source *s)
{
	struct bpf_map *map = s->bpf->maps.programs;
	struct taskio_program p, last;
	char name[TASKIO_NAME + 1] = "";
	struct taskio io;
	bool more = bpf_map__get_next_key(map, NULL, &p, sizeof(p)) == 0;

	for (int i = 0; more && i < 2 * TASKIO_CGROUPS; i++) {
		int r = bpf_map__lookup_elem(map, &p, sizeof(p), &io, sizeof(io), 0);

		last = p;
		more = bpf_map__get_next_key(map, &last, &p, sizeof(p)) == 0;
		if (r < 0)
			continue;
		memcpy(name, last.name, TASKIO_NAME);
		if (!sums_seen(&s->programs, &last, name, io.v, name[0] == '('))
			bpf_map__delete_elem(map, &last, sizeof(last), 0);
	}
}

static void send_cgroup(void *arg, const char *name, const double *since, const double *all)
{
	struct taskio_source *s = arg;

	(void)all;
	s->node[PAGECACHE_READ] += since[CGROUPIO_RCHAR];
	s->node[PAGECACHE_HIT] += since[CGROUPIO_CACHED];
	sink_sample(s->out,
		    &(struct sample_item){ layout_cgroupio.layout, name, CGROUPIO_END, since });
}

static void send_program(void *arg, const char *name, const double *since, const double *all)
{
	struct taskio_source *s = arg;

	(void)all;
	sink_sample(s->out,
		    &(struct sample_item){ layout_programio.layout, name, PROGRAMIO_END, since });
}

static void log_lost(struct taskio_source *s)
{
	uint64_t lost = s->bpf->bss->lost;

	s->losing = lost > s->lost ? s->losing + 1 : 0;
	s->lost = lost;
	if (s->losing != LOSING)
		return;
	log_warn(0, "source taskio: the I/O of some threads is counted only when they end: the "
		    "kernel had no memory to track them");
}

static int taskio_read(void *self, struct sink *out)
{
	struct taskio_source *s = self;
	int r = kernel_iterate(s->bpf->links.on_look);

	read_cgroups(s);
	read_programs(s);
	s->out = out;
	memset(s->node, 0, sizeof(s->node));
	sums_report(&s->cgroups, send_cgroup, s);
	sink_sample(out,
		    &(struct sample_item){ layout_pagecache.layout, "", PAGECACHE_END, s->node });
	sums_report(&s->programs, send_program, s);
	log_lost(s);
	return r;
}

static const struct wire_dict *const layouts[] = { &layout_cgroupio, &layout_programio,
						   &layout_pagecache };

const struct source source_taskio = {
	.name = "taskio",
	.help = "bytes and calls of I/O of each cgroup and program",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct taskio_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = taskio_open,
	.read = taskio_read,
	.close = taskio_close,
};

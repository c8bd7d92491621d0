// SPDX-License-Identifier: Apache-2.0
/* src_block.c - latency and size of the requests to each disk, from bpf/disk/block.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <stdio.h>

#include "lib/base/log.h"
#include <linux/types.h>

#include "bpf/disk/block.h"
#include "bpf/disk/block.skel.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/core/source.h"

enum {
	IDLE_TICKS = 30, /* ticks between samples of an idle disk */
	TIMES = BLOCK_OPS * BLOCK_NS_SLOTS + BLOCK_SIZED * BLOCK_BYTES_SLOTS,
};

/* The layout starts with the slots, in the kernel's order. */
_Static_assert(offsetof(struct block_counts, ns) - offsetof(struct block_counts, sum_ns) ==
		       (DISKIO_END - TIMES) * sizeof(__u64),
	       "block_counts");
_Static_assert(DISKIO_READ_SECONDS == (int)TIMES, "block_counts");

struct block_source {
	struct block_bpf *bpf;
	struct kernel_counts counts;
	char *sysfs;
	uint64_t sent[BLOCK_DISKS][DISKIO_END]; /* of the disk in this slot */
	uint64_t untimed; /* of all disks */
	uint64_t tick;
	bool loss_logged;
};

static void block_close(void *self)
{
	struct block_source *s = self;

	kernel_counts_close(&s->counts);
	block_bpf__destroy(s->bpf);
	free(s->sysfs);
}

static int block_open(void *self, const struct probe_env *env)
{
	struct block_source *s = self;
	int args, r = kernel_can_load(env->why);

	if (r < 0)
		return r;
	s->sysfs = strdup(env->sysfs);
	s->bpf = block_bpf__open();
	if (!s->sysfs || !s->bpf)
		return -ENOMEM;
	args = kernel_tracepoint_args("block_rq_complete", env->why);
	if (args < 0)
		return args;
	args = kernel_tracepoint_args("block_rq_issue", env->why);
	if (args < 0)
		return args;
	s->bpf->rodata->issue_args = (__u32)args;
	r = kernel_counts_size(s->bpf->maps.counts);
	if (r == 0 && bpf_map__max_entries(s->bpf->maps.counts) > BLOCK_CPUS) {
		r = bpf_map__set_max_entries(s->bpf->maps.counts, BLOCK_CPUS);
		s->bpf->rodata->shared = true;
	}
	if (r == 0)
		r = block_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	r = kernel_counts_share(&s->counts, s->bpf->maps.counts);
	if (r < 0)
		return r;
	s->bpf->links.on_complete = bpf_program__attach(s->bpf->progs.on_complete);
	return s->bpf->links.on_complete ? 0 : -errno;
}

/* Makes each CPU look up the disk of this slot once more. */
static void reset_lookup(struct block_source *s, uint32_t slot)
{
	struct block_cpu *cpu = (void *)(uintptr_t)s->counts.at;

	for (int i = 0; i < s->counts.ncpu; i++)
		__atomic_store_n(&cpu[i].of[slot].key, 0, __ATOMIC_RELAXED);
}

/* A queue without statistics (iostats, wbt): from now on its request starts are recorded. */
static void time_by_hook(struct block_source *s)
{
	if (!s->untimed)
		return;
	s->untimed = 0;
	if (!s->bpf->links.on_issue)
		s->bpf->links.on_issue = bpf_program__attach(s->bpf->progs.on_issue);
	if (!s->bpf->links.on_issue) {
		log_warn(errno, "source block: a disk does not record the times of its requests");
		return;
	}
	s->bpf->bss->by_hand = BLOCK_BY_HAND;
	for (uint32_t i = 0; i < BLOCK_DISKS; i++)
		reset_lookup(s, i);
}

/* Removed disks would fill all slots in time. A '/' in a name is a '!' in /sys. */
static bool is_gone(const struct block_source *s, const char name[static BLOCK_NAME])
{
	char path[PATH_MAX], sys_name[BLOCK_NAME] = "";

	for (size_t i = 0; i < BLOCK_NAME; i++)
		sys_name[i] = name[i] == '/' ? '!' : name[i];
	snprintf(path, sizeof(path), "%s/block/%s", s->sysfs, sys_name);
	return access(path, F_OK) < 0 && errno == ENOENT;
}

/* Frees a slot; the disk id goes last, when nothing else is left. */
static void free_slot(struct block_source *s, uint32_t slot)
{
	memset(&s->bpf->bss->disks[slot], 0, sizeof(struct block_disk));
	reset_lookup(s, slot);
	bpf_map__delete_elem(s->bpf->maps.taken, &slot, sizeof(slot), 0);
}

/* Sum over all CPUs, which continue counting. */
static uint64_t sum_of(const struct block_source *s, uint32_t slot, int i)
{
	const struct block_cpu *cpu = (const void *)s->counts.at;
	uint64_t sum = 0;

	for (int j = 0; j < s->counts.ncpu; j++) {
		const struct block_counts *c = &cpu[j].of[slot];

		if (i < TIMES)
			sum += __atomic_load_n(c->ns[0] + i, __ATOMIC_RELAXED);
		else
			sum += __atomic_load_n(c->sum_ns + (i - TIMES), __ATOMIC_RELAXED);
	}
	return sum;
}

static void send_disk(struct block_source *s, uint32_t slot, struct sink *out)
{
	const char *name = s->bpf->bss->disks[slot].name;
	uint64_t *sent = s->sent[slot];
	bool idle = true;
	double v[DISKIO_END] = { 0 };

	for (int i = 0; i < DISKIO_END; i++) {
		uint64_t value = sum_of(s, slot, i);
		uint64_t since = i < TIMES ? (uint32_t)(value - sent[i]) : value - sent[i];

		idle &= since == 0;
		v[i] = i >= DISKIO_READ_SECONDS && i <= DISKIO_FLUSH_SECONDS
			       ? (double)(float)((double)since / 1e9)
			       : (double)since;
		sent[i] = value;
	}
	s->untimed += (uint64_t)v[DISKIO_UNTIMED];
	if (idle && s->tick % IDLE_TICKS != 0)
		return;
	if (idle && is_gone(s, name))
		free_slot(s, slot);
	else
		sink_sample(out,
			    &(struct sample_item){ layout_diskio.layout, name, DISKIO_END, v });
}

static void log_lost(struct block_source *s)
{
	const struct block_lost *lost = &s->bpf->bss->lost;

	if (s->loss_logged || (!lost->disks && !lost->starts))
		return;
	s->loss_logged = true;
	log_warn(0, "source block: some requests are not counted: %s",
		 lost->disks ? "too many disks" : "too many requests in flight");
}

static int block_read(void *self, struct sink *out)
{
	struct block_source *s = self;

	for (uint32_t i = 0; i < BLOCK_DISKS; i++)
		if (__atomic_load_n(&s->bpf->bss->disks[i].key, __ATOMIC_ACQUIRE))
			send_disk(s, i, out);
	s->tick++;
	time_by_hook(s);
	log_lost(s);
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_diskio };

const struct source source_block = {
	.name = "block",
	.help = "latency and size of the requests to each disk",
	.period_ms = 2000,
	.steady = true,
	.counts_max = BLOCK_CPUS,
	.size = sizeof(struct block_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = block_open,
	.read = block_read,
	.close = block_close,
};

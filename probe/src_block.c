// SPDX-License-Identifier: Apache-2.0
/* src_block.c - latency and size of the requests to each disk, from bpf/block.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <stdio.h>

#include "../lib/log.h"
#include <linux/types.h>

#include "../bpf/block.h"
#include "block.skel.h"
#include "kernel_load.h"
#include "layout.h"
#include "source.h"

enum {
	IDLE_TICKS = 30, /* a disk that does nothing is told so rarely */
	TIMES = BLOCK_OPS * BLOCK_NS_SLOTS + BLOCK_SIZED * BLOCK_BYTES_SLOTS,
};

/* Their order in the kernel is the layout's. */
_Static_assert(offsetof(struct block_disk, ns) + DISKIO_END * sizeof(__u64) ==
		       sizeof(struct block_disk),
	       "block_disk");
_Static_assert(DISKIO_READ_SECONDS == (int)TIMES, "block_disk");

struct disk {
	uint32_t key;
	uint64_t told[DISKIO_END];
};

struct block_source {
	struct block_bpf *bpf;
	char *sysfs;
	struct disk disk[BLOCK_DISKS]; /* as in the kernel */
	uint64_t untimed; /* of all disks */
	uint64_t tick;
	bool told_lost;
};

static void block_close(void *self)
{
	struct block_source *s = self;

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
	r = block_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_say(r, env->why);
	s->bpf->links.on_complete = bpf_program__attach(s->bpf->progs.on_complete);
	return s->bpf->links.on_complete ? 0 : -errno;
}

/* A queue that keeps no statistics (iostats, wbt): its starts are noted from now on. */
static void time_by_hand(struct block_source *s)
{
	if (s->bpf->links.on_issue || !s->untimed)
		return;
	s->bpf->links.on_issue = bpf_program__attach(s->bpf->progs.on_issue);
	if (s->bpf->links.on_issue)
		s->bpf->bss->by_hand = 1;
	else
		log_warn(errno, "source block: a disk keeps no times of its requests");
	s->untimed = 0;
}

/* Those that are no more would take all places in time. A '/' in a name is a '!' in /sys. */
static bool is_gone(const struct block_source *s, const char name[static BLOCK_NAME])
{
	char path[PATH_MAX], sys_name[BLOCK_NAME];

	for (size_t i = 0; i < BLOCK_NAME; i++)
		sys_name[i] = name[i] == '/' ? '!' : name[i];
	snprintf(path, sizeof(path), "%s/block/%s", s->sysfs, sys_name);
	return access(path, F_OK) < 0 && errno == ENOENT;
}

/* Its place is free when nothing of it is left there. */
static void forget(struct block_source *s, struct disk *d, struct block_disk *now)
{
	uint32_t place = (uint32_t)(d - s->disk);

	d->key = 0;
	memset(now, 0, sizeof(*now));
	bpf_map__delete_elem(s->bpf->maps.taken, &place, sizeof(place), 0);
}

static void tell(struct block_source *s, struct disk *d, struct block_disk *now, struct sink *out)
{
	const __u64 *n = now->ns[0];
	bool idle = true;
	double v[DISKIO_END];

	for (int i = 0; i < DISKIO_END; i++) {
		uint64_t value = __atomic_load_n(&n[i], __ATOMIC_RELAXED); /* it goes on */
		uint64_t since = value - d->told[i];

		idle &= since == 0;
		v[i] = i >= DISKIO_READ_SECONDS && i <= DISKIO_FLUSH_SECONDS
			       ? (double)(float)((double)since / 1e9)
			       : (double)since;
		d->told[i] = value;
	}
	s->untimed += (uint64_t)v[DISKIO_UNTIMED];
	if (idle && s->tick % IDLE_TICKS != 0)
		return;
	if (idle && is_gone(s, now->name))
		forget(s, d, now);
	else
		sink_sample(out, &(struct sample_item){ layout_diskio.layout, now->name, DISKIO_END,
							v });
}

static void tell_lost(struct block_source *s)
{
	const struct block_lost *lost = &s->bpf->bss->lost;

	if (s->told_lost || (!lost->disks && !lost->starts))
		return;
	s->told_lost = true;
	log_warn(0, "source block: some requests are not counted: %s",
		 lost->disks ? "more disks than it has room for"
			     : "more of them at a time than it has room for");
}

static int block_read(void *self, struct sink *out)
{
	struct block_source *s = self;

	for (size_t i = 0; i < BLOCK_DISKS; i++) {
		struct block_disk *now = &s->bpf->bss->disks[i];
		uint32_t key = __atomic_load_n(&now->key, __ATOMIC_ACQUIRE);

		if (!key)
			continue;
		if (s->disk[i].key != key)
			s->disk[i] = (struct disk){ .key = key };
		tell(s, &s->disk[i], now, out);
	}
	s->tick++;
	time_by_hand(s);
	tell_lost(s);
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_diskio };

const struct source source_block = {
	.name = "block",
	.help = "latency and size of the requests to each disk",
	.period_ms = 2000,
	.steady = true,
	.size = sizeof(struct block_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = block_open,
	.read = block_read,
	.close = block_close,
};

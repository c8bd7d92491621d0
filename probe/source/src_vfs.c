// SPDX-License-Identifier: Apache-2.0
/* src_vfs.c - file operations by mount and cgroup, from bpf/disk/vfs.bpf.c; on demand only. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "bpf/disk/vfs.h"
#include "probe/cgroup/cgroup_record_text.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/kernel/map_sums.h"
#include "probe/kernel/path_text.h"
#include "probe/core/source.h"
#include "probe/kernel/sums.h"
#include "bpf/disk/vfs.skel.h"

/* The kernel's order is that of the layout. */
_Static_assert((int)VFS_END == (int)VFS_FIELDS, "vfs");
_Static_assert((int)VFS_READ_SECONDS == (int)VFS_NS && (int)VFS_CREATES == (int)VFS_CREATED &&
		       (int)VFS_READ_US_4 == (int)VFS_LATENCY,
	       "vfs");
_Static_assert(sizeof(struct vfs_key) <= SUMS_KEY && (int)VFS_FIELDS <= (int)SUMS_FIELDS, "vfs");

static const struct {
	uint16_t nr;
	struct vfs_call call;
} calls[] = {
	{ SYS_read, { VFS_READ, VFS_FD } },
	{ SYS_pread64, { VFS_READ, VFS_FD } },
	{ SYS_readv, { VFS_READ, VFS_FD } },
	{ SYS_preadv, { VFS_READ, VFS_FD } },
	{ SYS_preadv2, { VFS_READ, VFS_FD } },
	{ SYS_sendfile, { VFS_READ, VFS_SECOND } },
	{ SYS_copy_file_range, { VFS_READ, VFS_BOTH } },
	{ SYS_splice, { VFS_READ, VFS_BOTH } },
	{ SYS_write, { VFS_WRITE, VFS_FD } },
	{ SYS_pwrite64, { VFS_WRITE, VFS_FD } },
	{ SYS_writev, { VFS_WRITE, VFS_FD } },
	{ SYS_pwritev, { VFS_WRITE, VFS_FD } },
	{ SYS_pwritev2, { VFS_WRITE, VFS_FD } },
	{ SYS_fsync, { VFS_SYNC, VFS_FD } },
	{ SYS_fdatasync, { VFS_SYNC, VFS_FD } },
	{ SYS_openat, { VFS_OPEN, VFS_BY_NAME } },
	{ SYS_openat2, { VFS_OPEN, VFS_BY_NAME } },
	{ SYS_unlinkat, { VFS_UNLINK, VFS_BY_NAME } },
#ifdef SYS_open
	{ SYS_open, { VFS_OPEN, VFS_BY_NAME } },
	{ SYS_creat, { VFS_OPEN, VFS_BY_NAME } },
	{ SYS_unlink, { VFS_UNLINK, VFS_BY_NAME } },
#endif
};

struct vfs_source {
	struct vfs_bpf *bpf;
	struct sums entries;
	struct sink *out; /* during a read */
	uint64_t sent_missed;
};

static void vfs_close(void *self)
{
	struct vfs_source *s = self;

	vfs_bpf__destroy(s->bpf);
	sums_free(&s->entries);
}

static int load_program(struct vfs_source *s, char *why)
{
	static const struct vfs_entry others;
	const struct vfs_key key = { .cgroup = CGROUP_OTHERS };
	int r;

	s->bpf = vfs_bpf__open();
	if (!s->bpf)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		memcpy((void *)(uintptr_t)&s->bpf->rodata->call_of[calls[i].nr], &calls[i].call,
		       sizeof(calls[i].call));
	r = vfs_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, why);
	/* the entry for everything that does not fit; never deleted */
	return bpf_map__update_elem(s->bpf->maps.entries, &key, sizeof(key), &others,
				    sizeof(others), BPF_NOEXIST);
}

static int vfs_open(void *self, const struct probe_env *env)
{
	struct vfs_source *s = self;
	int r = kernel_can_load(env->why);

	s->entries = (struct sums){ .nkey = sizeof(struct vfs_key), .nfields = VFS_FIELDS };
	if (r == 0)
		r = kernel_tracepoint_args("sys_exit", env->why);
	if (r >= 0)
		r = load_program(s, env->why);
	return r < 0 ? r : kernel_explain(vfs_bpf__attach(s->bpf), env->why);
}

/* "mount=/data,cgroup=/a/b"; a cgroup path that is too long is replaced by its id. */
static bool name_of(void *arg, const void *of, const void *value, char name[ITEM_MAX_TEXT])
{
	const struct vfs_key *key = of;
	const struct vfs_entry *e = value;
	char mount[ITEM_MAX_TEXT] = "?", cgroup[ITEM_MAX_TEXT];
	int n;

	(void)arg;
	snprintf(name, ITEM_MAX_TEXT, "(others)");
	if (key->cgroup == CGROUP_OTHERS || !e->cgroup.len)
		return key->cgroup == CGROUP_OTHERS;
	if (key->mount)
		path_text(&e->mount, false, mount);
	cgroup_record_text(&e->cgroup, key->cgroup, cgroup);
	n = snprintf(name, ITEM_MAX_TEXT, "mount=%s,cgroup=%s", mount[0] ? mount : "/", cgroup);
	if (n >= ITEM_MAX_TEXT)
		snprintf(name, ITEM_MAX_TEXT, "mount=%.200s,cgroup=~%016llx", mount,
			 (unsigned long long)key->cgroup);
	return true;
}

static void send_entry(void *arg, const char *name, const double *since, const double *all)
{
	struct vfs_source *s = arg;
	double v[VFS_END];

	(void)all;
	memcpy(v, since, sizeof(v));
	for (int i = VFS_READ_SECONDS; i <= VFS_SYNC_SECONDS; i++)
		v[i] = (double)(float)(v[i] / 1e9);
	sink_sample(s->out, &(struct sample_item){ layout_vfs.layout, name, VFS_END, v });
}

static void send_missed(struct vfs_source *s)
{
	double missed = (double)(s->bpf->bss->missed - s->sent_missed);

	s->sent_missed = s->bpf->bss->missed;
	if (missed > 0)
		sink_sample(s->out, &(struct sample_item){ layout_vfsloss.layout, "", VFSLOSS_END,
							   &missed });
}

static int vfs_read(void *self, struct sink *out)
{
	static const struct vfs_key others = { .cgroup = CGROUP_OTHERS };
	struct vfs_source *s = self;

	map_sums_read(&(struct map_sums){
		.map = s->bpf->maps.entries,
		.sums = &s->entries,
		.others = &others,
		.name = name_of,
	});
	s->out = out;
	sums_report(&s->entries, send_entry, s);
	send_missed(s);
	s->out = NULL;
	return 0;
}

static void vfs_sample(void *self, uint32_t step)
{
	((struct vfs_source *)self)->bpf->bss->sample_step = step;
}

static const struct wire_dict *const layouts[] = { &layout_vfs, &layout_vfsloss };

const struct source source_vfs = {
	.name = "vfs",
	.help = "file operations by mount and cgroup: count, time, failures",
	.period_ms = 10000,
	.steady = true,
	.size = sizeof(struct vfs_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = vfs_open,
	.read = vfs_read,
	.close = vfs_close,
	.sampled = "file operations",
	.sample = vfs_sample,
};

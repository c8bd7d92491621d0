/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fd.h - from a file descriptor of a thread to its file, and from the file to its path. */
#pragma once

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "path.h"

static __always_inline struct file *file_of_fd(struct task_struct *t, __u64 fd)
{
	struct fdtable *table = t->files->fdt;
	struct file *f = NULL;

	if ((__u32)fd >= table->max_fds ||
	    bpf_probe_read_kernel(&f, sizeof(f), table->fd + (__u32)fd))
		return NULL;
	return f;
}

struct mapped {
	struct file *file;
};

static long on_mapping(struct task_struct *t, struct vm_area_struct *vma, struct mapped *m)
{
	m->file = vma->vm_file;
	return 0;
}

/* The file behind an address; NULL also before 5.17, and while the map of the thread changes. */
static __always_inline struct file *file_of_address(struct task_struct *t, __u64 address)
{
	struct mapped m = {};

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(t, address, on_mapping, &m, 0);
	return m.file;
}

/* One step towards the root; false: there is none any more. */
static __always_inline bool path_step(struct path_parts *p, struct dentry **d, struct mount **m)
{
	struct dentry *parent = BPF_CORE_READ(*d, d_parent);
	__u32 at = p->len;
	long n;

	if (*d == BPF_CORE_READ(*m, mnt.mnt_root)) {
		struct mount *around = BPF_CORE_READ(*m, mnt_parent);

		p->whole = around == *m;
		*d = BPF_CORE_READ(*m, mnt_mountpoint);
		*m = around;
		return !p->whole;
	}
	if (parent == *d || at > PATH_BYTES - PATH_PART)
		return false;
	n = bpf_probe_read_kernel_str(p->b + at, PATH_PART, BPF_CORE_READ(*d, d_name.name));
	if (n <= 0)
		return false;
	p->len = at + (__u32)n;
	*d = parent;
	return true;
}

static __always_inline void path_of(struct path_parts *p, struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry);
	struct mount *m = (void *)((__u64)BPF_CORE_READ(f, f_path.mnt) -
				   bpf_core_field_offset(struct mount, mnt));

	p->len = 0;
	p->whole = 0;
	for (int i = 0; i < PATH_PARTS; i++)
		if (!path_step(p, &d, &m))
			break;
}

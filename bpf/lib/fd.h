/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fd.h - finds a thread's file by its descriptor or by an address, and the path of a file. */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lib/bound.h"
#include "bpf/lib/path.h"

static __always_inline struct file *file_of_fd(struct task_struct *t, __u64 fd)
{
	struct files_struct *mine = t->files;
	struct fdtable *table;
	struct file *f = NULL;

	if (!mine)
		return NULL;
	table = mine->fdt;
	if ((__u32)fd >= table->max_fds ||
	    bpf_probe_read_kernel(&f, sizeof(f),
				  (void *)((__u64)table->fd + (__u32)fd * sizeof(f))))
		return NULL;
	return f;
}

struct mapped {
	struct file *file;
};

static long on_mapping(struct task_struct *t, struct vm_area_struct *vma, struct mapped *m)
{
	BPF_CORE_READ_INTO(&m->file, vma, vm_file); /* as a number, like all other files here */
	return 0;
}

/*
 * The file mapped at an address; NULL also before 5.17, and while the thread's address space is
 * being changed.
 */
static __always_inline struct file *file_of_address(struct task_struct *t, __u64 address)
{
	struct mapped m = {};

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(t, address, on_mapping, &m, 0);
	return m.file;
}

/* Position of a walk from a file to the root of the mounts. */
struct walk {
	struct dentry *d;
	struct mount *m;
};

/*
 * One step towards the root; 0: the root is reached. Global, so that the verifier checks it once.
 */
__noinline int path_step(struct path_parts *p, struct walk *w)
{
	struct dentry *d, *parent;
	struct mount *m;
	__u64 at;
	long n;

	if (!p || !w)
		return 0;
	d = w->d;
	m = w->m;
	at = p->len;
	parent = BPF_CORE_READ(d, d_parent);
	if (d == BPF_CORE_READ(m, mnt.mnt_root)) {
		w->m = BPF_CORE_READ(m, mnt_parent);
		w->d = BPF_CORE_READ(m, mnt_mountpoint);
		p->whole = w->m == m;
		return !p->whole;
	}
	if (parent == d || at > PATH_BYTES - PATH_PART)
		return 0;
	n = bpf_probe_read_kernel_str(p->b + at_most(at, PATH_BYTES - PATH_PART), PATH_PART,
				      BPF_CORE_READ(d, d_name.name));
	if (n <= 0)
		return 0;
	p->len = at + (__u32)n;
	w->d = parent;
	return 1;
}

static __always_inline void path_of(struct path_parts *p, struct file *f)
{
	struct walk w = { BPF_CORE_READ(f, f_path.dentry),
			  (void *)((__u64)BPF_CORE_READ(f, f_path.mnt) -
				   bpf_core_field_offset(struct mount, mnt)) };

	p->len = 0;
	p->whole = 0;
	for (int i = 0; i < PATH_PARTS; i++)
		if (!path_step(p, &w))
			break;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vfs.h - the counters shared by bpf/disk/vfs.bpf.c and probe/source/src_vfs.c. */
#pragma once

#include "bpf/lib/cgroup_record.h"
#include "bpf/lib/path.h"

enum vfs_op { VFS_READ, VFS_WRITE, VFS_OPEN, VFS_UNLINK, VFS_SYNC, VFS_OPS };

/* Which argument of a call names its file. */
enum vfs_way {
	VFS_NONE, /* the call is not counted */
	VFS_FD, /* the first argument is a descriptor */
	VFS_SECOND, /* the second argument is a descriptor */
	VFS_BOTH, /* reads the first descriptor, writes the third */
	VFS_BY_NAME, /* the file is only known if the open succeeds */
};

struct vfs_call {
	__u8 op; /* enum vfs_op */
	__u8 way; /* enum vfs_way */
};

enum {
	VFS_NRS = 512, /* upper bound for system call numbers */
	VFS_FIRST = 12, /* up to 2^12 ns = 4 us, then twice as long each ... */
	VFS_SLOTS = 20, /* ... up to 2^30 ns = 1.07 s; the last: more */
	VFS_ENTRIES = 512, /* including one entry shared by all others */
};

/* Counters per operation, in the order of the layout. */
enum vfs_field {
	VFS_CALLS, /* errors included */
	VFS_ERRORS = VFS_CALLS + VFS_OPS,
	VFS_NS = VFS_ERRORS + VFS_OPS,
	VFS_CREATED = VFS_NS + VFS_OPS, /* opens that created the file */
	VFS_BYTES_IN,
	VFS_BYTES_OUT,
	VFS_LATENCY,
	VFS_FIELDS = VFS_LATENCY + VFS_OPS * VFS_SLOTS,
};

/* A mount and its mount point: the same file system mounted elsewhere later has another key. */
struct vfs_key {
	__u64 cgroup;
	__u64 mount, point; /* addresses; 0: not known */
};

struct vfs_entry {
	__u64 v[VFS_FIELDS];
	struct path_parts mount;
	struct cgroup_record cgroup;
};

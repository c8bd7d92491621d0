/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vfs.h - what bpf/disk/vfs.bpf.c and probe/source/src_vfs.c agree on. */
#pragma once

#include "bpf/lib/cgroup_record.h"
#include "bpf/lib/path.h"

enum vfs_op { VFS_READ, VFS_WRITE, VFS_OPEN, VFS_UNLINK, VFS_SYNC, VFS_OPS };

/* How a call names its file. */
enum vfs_way {
	VFS_NONE, /* no call that is counted */
	VFS_FD, /* its first argument is the file's descriptor */
	VFS_SECOND, /* its second one */
	VFS_BOTH, /* it reads its first and writes its third one */
	VFS_BY_NAME, /* the file is known only if it was opened */
};

struct vfs_call {
	__u8 op; /* enum vfs_op */
	__u8 way; /* enum vfs_way */
};

enum {
	VFS_NRS = 512, /* numbers of system calls */
	VFS_FIRST = 12, /* up to 2^12 ns = 4 us, then twice as long each ... */
	VFS_SLOTS = 20, /* ... up to 2^30 ns = 1.07 s; the last: more */
	VFS_ENTRIES = 512, /* with those beyond, one for all of them */
};

/* Of each operation, in the order of the layout. */
enum vfs_field {
	VFS_CALLS, /* errors included */
	VFS_ERRORS = VFS_CALLS + VFS_OPS,
	VFS_NS = VFS_ERRORS + VFS_OPS,
	VFS_CREATED = VFS_NS + VFS_OPS, /* of the opened ones */
	VFS_BYTES_IN,
	VFS_BYTES_OUT,
	VFS_LATENCY,
	VFS_FIELDS = VFS_LATENCY + VFS_OPS * VFS_SLOTS,
};

/* A mount by itself and where it is mounted: what is mounted somewhere else later is another one.
 */
struct vfs_key {
	__u64 cgroup;
	__u64 mount, point; /* addresses; 0: not known */
};

struct vfs_entry {
	__u64 v[VFS_FIELDS];
	struct path_parts mount;
	struct cgroup_record cgroup;
};

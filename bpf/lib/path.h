/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* path.h - the path of a file, as bpf/lib/fd.h passes it to user space. */
#pragma once

enum { PATH_PARTS = 16, PATH_PART = 64, PATH_BYTES = 256 };

/* The last components of a path, innermost first, each ended by a NUL; a long component is cut. */
struct path_parts {
	__u32 len;
	__u32 whole; /* complete up to the root of the mounts */
	char b[PATH_BYTES];
};

// SPDX-License-Identifier: Apache-2.0
/*
 * proc_code.h - the executable mappings of a process, and the files mapped there.
 *
 * Paths of another user's process are not trusted: they are resolved within the root of the
 * process, and only regular files are opened.
 */
#pragma once

#include "lib/base/base.h"

enum { PROC_CODE_PATH = 256 };

struct mapping { /* executable */
	uint64_t start, end, offset;
	uint64_t ino; /* 0: no file */
	uint32_t dev; /* major << 20 | minor */
	char path[PROC_CODE_PATH]; /* "": none; "[vdso]"; truncated if too long */
};

bool mapping_read(const char *line, size_t len, struct mapping *m); /* false: not executable */

/* Calls on_mapping for each until it returns false. -errno: the process cannot be read. */
int proc_code_each(const char *procfs, uint32_t pid,
		   bool (*on_mapping)(void *, const struct mapping *), void *arg);

/*
 * Opens the file of a mapping, as the process sees it. same: only if it has the inode of the
 * mapping (overlay file systems may show another one). -errno: not there; -EREMOTE: its file system
 * may make a reader wait for another host or program.
 */
int proc_code_open(const char *procfs, uint32_t pid, const struct mapping *m, bool same);

/* Opens the perf map of its runtime, if the process's user owns the file; or -errno. */
int proc_code_open_perf_map(const char *procfs, uint32_t pid);

uint32_t proc_code_parent(const char *procfs, uint32_t pid); /* 0: not known */

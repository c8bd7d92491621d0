// SPDX-License-Identifier: Apache-2.0
/*
 * proc_code.h - the executable mappings of a process, and the files mapped there.
 *
 * Another user may own the process: its mappings are read in steps, and its files are opened by
 * probe/foreign/foreign.h.
 */
#pragma once

#include "probe/foreign/foreign.h"

enum { PROC_CODE_PATH = 256, PROC_CODE_PIECE = 4608 };

struct mapping { /* executable */
	uint64_t start, end, offset;
	uint64_t ino; /* 0: no file */
	uint32_t dev; /* major << 20 | minor */
	char path[PROC_CODE_PATH]; /* "": none; "[vdso]"; truncated if too long */
};

bool mapping_read(const char *line, size_t len, struct mapping *m); /* false: not executable */

/* A pass over the mappings of a process; all zeros: none is begun. */
struct proc_code {
	int fd; /* plus 1 */
	uint32_t pid, lines;
	size_t at, len; /* of the unread part of the piece */
	char piece[PROC_CODE_PIECE];
};

int proc_code_begin(struct proc_code *c, const char *procfs, uint32_t pid) MUST_CHECK;
/*
 * The next executable mapping within this number of lines, which is reduced: 1 with a mapping; 0:
 * no lines left, call again in the next turn; -ENOENT: the end.
 */
int proc_code_next(struct proc_code *c, const char *procfs, uint32_t *lines, struct mapping *m);
void proc_code_end(struct proc_code *c);

/*
 * Opens the file of a mapping, as the process sees it. same: only if it has the inode of the
 * mapping (overlay file systems may show another one). Errors as foreign_open_path.
 */
int proc_code_open(const char *procfs, uint32_t pid, const struct mapping *m, bool same,
		   struct foreign_id *id) MUST_CHECK;

/* Opens the perf map of its runtime, if the process's user owns the file; or -errno. */
int proc_code_open_perf_map(const char *procfs, uint32_t pid, struct foreign_id *id) MUST_CHECK;

uint32_t proc_code_parent(const char *procfs, uint32_t pid); /* 0: not known */

// SPDX-License-Identifier: Apache-2.0
/*
 * proc_code.h - where the code of a process lies: its mappings, and the files behind them.
 *
 * Another's directories can lead anywhere and hold anything: names are followed within the
 * process's own root, and nothing but a regular file is opened.
 */
#pragma once

#include "lib/base/base.h"

enum { PROC_CODE_PATH = 256 };

struct mapping { /* with leave to execute */
	uint64_t start, end, offset;
	uint64_t ino; /* 0: no file */
	uint32_t dev; /* major << 20 | minor */
	char path[PROC_CODE_PATH]; /* "": none; "[vdso]"; one that is too long is cut */
};

bool mapping_read(const char *line, size_t len, struct mapping *m); /* false: cannot execute */

/* Calls back for each until that says false. -errno: the process cannot be looked at. */
int proc_code_each(const char *procfs, uint32_t pid,
		   bool (*on_mapping)(void *, const struct mapping *), void *arg);

/*
 * The file of a mapping, as that process sees it; same: only if it has that number (file systems
 * that are laid over others may give it another one). -errno if it is not there; -EREMOTE: it is
 * on one that may let a reader wait for another host or program.
 */
int proc_code_open(const char *procfs, uint32_t pid, const struct mapping *m, bool same);

/* The map that its runtime may have written, if it is its own user's. */
int proc_code_open_perf_map(const char *procfs, uint32_t pid);

uint32_t proc_code_parent(const char *procfs, uint32_t pid); /* 0: not known */

// SPDX-License-Identifier: Apache-2.0
/*
 * foreign.h - opens and reads what other users of this machine own: files below /proc/PID, programs
 * and libraries, the maps of runtimes. Every other open of these is rejected by
 * tests/lint/foreign.py.
 *
 * Their owner chooses size, kind and place of such a file, and may make a reader wait for ever. So
 * each kind has limits (foreign_limits), only regular files with data are read, and nothing on a
 * file system that can wait for another program or host. All functions return at once; a long file
 * is read in steps by its reader. Refusals are counted by kind; the log names the first few
 * programs of each kind in an hour, and the doctor those refused last.
 *
 * Belongs to the loop's thread, except for the thread that foreign_near.c starts.
 */
#pragma once

#include <dirent.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/buf.h"

enum foreign_kind {
	FOREIGN_CODE, /* ELF files: programs and libraries */
	FOREIGN_PERF_MAP, /* names of generated code: /tmp/perf-PID.map */
	FOREIGN_MAPS, /* mappings: /proc/PID/maps */
	FOREIGN_TEXT, /* short files below /proc/PID */
	FOREIGN_FILES, /* open files: /proc/PID/fd */
	FOREIGN_KINDS
};

struct foreign_limit {
	const char *name; /* "ELF file", for messages */
	uint64_t bytes; /* read of one file, or of each table of an ELF file */
	uint32_t entries; /* lines, sections, descriptors of one file */
	uint32_t step_bytes, step_entries; /* in one turn of the loop */
};

extern const struct foreign_limit foreign_limits[FOREIGN_KINDS];

struct foreign_id { /* two files with equal ids have equal content */
	uint64_t dev, ino, size;
	struct timespec written; /* the last change of the content */
};

bool foreign_id_equal(const struct foreign_id *a, const struct foreign_id *b);

/* Opens PROCFS/PID/NAME, a text that the kernel makes; the descriptor, or -errno. */
int foreign_open_text(const char *procfs, uint32_t pid, const char *name) MUST_CHECK;

/* The same by its path below a directory, for readers of lines (probe/procfs/proc_text.h). */
int foreign_open_text_at(int dir, const char *path) MUST_CHECK;

/* Lists PROCFS/PID/NAME ("fd", "task"); NULL: it cannot be read. The caller closes it. */
DIR *foreign_list(const char *procfs, uint32_t pid, const char *name);

/* The inode of a namespace ("net", "user") of the process, or with pid 0 of this one; 0: unknown.
 */
uint64_t foreign_namespace(const char *procfs, uint32_t pid, const char *name);

/* Reads such a text up to its limit, and ends it with 0; its length, or -errno. */
ssize_t foreign_read_text(const char *procfs, uint32_t pid, const char *name, char *text,
			  size_t size) MUST_CHECK;

/*
 * Opens a regular file: the program of the process, even if deleted, or a path as the process sees
 * it. -EREMOTE: its file system may make a reader wait. -ENOENT: not there, or no regular file. A
 * file that was refused lately stays refused (-EPERM).
 */
int foreign_open_program(const char *procfs, uint32_t pid, struct foreign_id *id) MUST_CHECK;
int foreign_open_path(enum foreign_kind kind, const char *procfs, uint32_t pid, const char *path,
		      struct foreign_id *id) MUST_CHECK;

/*
 * Reads up to len bytes at this offset; the number, 0 at the end, or -errno. -ENODATA: a hole. The
 * position in an ELF file or perf map.
 */
ssize_t foreign_read(int fd, void *out, size_t len, uint64_t at) MUST_CHECK;

/* Counts a refusal, and remembers the file (id, unless NULL) as refused for ten minutes. */
void foreign_refuse(enum foreign_kind kind, int error, const char *procfs, uint32_t pid,
		    const struct foreign_id *id);
bool foreign_is_refused(const struct foreign_id *id);

uint64_t foreign_refused(void); /* since the start, of all kinds */
uint64_t foreign_refused_of(enum foreign_kind kind);

/*
 * Appends a line per program and kind, those refused last: "COUNT KIND\tPROGRAM\tREASON\n", as text
 * that may be shown. At most FOREIGN_NAMED lines.
 */
enum { FOREIGN_NAMED = 16 };
#define FOREIGN_REFUSED_FILE ".refused" /* added to the name of the probe's state: these lines */
void foreign_list_refused(struct buf *text);

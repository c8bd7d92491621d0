// SPDX-License-Identifier: Apache-2.0
/*
 * usym_files.h - the code files seen so far, by device, inode and build id. Each is opened once for
 * its build id, and can be found after the process that mapped it is gone.
 *
 * Also caches the functions of these files that were looked up.
 */
#pragma once

#include "probe/symbol/user/elf_file.h"
#include "probe/symbol/user/proc_code.h"

struct code_file {
	uint32_t serial; /* never reused; 0: none */
	uint32_t keeper; /* the parent of a process that had it mapped: its root is searched too */
	uint64_t used;
	uint8_t build_id[ELF_FILE_ID];
	uint64_t size;
	struct timespec written;
	struct mapping map; /* dev, ino and path */
};

struct code_function { /* offsets in the file */
	uint32_t serial; /* of the file */
	uint64_t start, end;
	char name[SYMBOL_NAME]; /* "": no function in this range */
};

struct usym_files;

struct usym_files *usym_files_new(const char *procfs);
void usym_files_free(struct usym_files *f);

/* The file of a mapping, or NULL. A new one is opened for its build id, if *opens is not 0 yet. */
const struct code_file *usym_files_of(struct usym_files *f, uint32_t pid, const struct mapping *m,
				      uint32_t *opens);

const struct code_file *usym_files_by_id(struct usym_files *f,
					 const uint8_t id[static ELF_FILE_ID]);
const struct code_file *usym_files_at(const struct usym_files *f, uint32_t serial); /* NULL: gone */

/* Opens the file, if it still has the recorded build id, size and time; 0 or -errno. */
int usym_files_open(struct usym_files *f, uint32_t pid, const struct code_file *c,
		    struct elf_file *out, struct foreign_id *id) MUST_CHECK;

void usym_files_keep(struct usym_files *f, const struct code_function *fn);
const struct code_function *usym_files_function(const struct usym_files *f, uint32_t serial,
						uint64_t offset);

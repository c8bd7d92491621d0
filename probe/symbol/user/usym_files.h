// SPDX-License-Identifier: Apache-2.0
/*
 * usym_files.h - the files of code that were seen, by device, number and build id: so each is
 * opened once for its id, and is found when a process that had it mapped is gone.
 *
 * And of their functions those that were asked for.
 */
#pragma once

#include "probe/symbol/user/elf_file.h"
#include "probe/symbol/user/proc_code.h"

struct code_file {
	uint32_t serial; /* never used twice; 0: none */
	uint32_t keeper; /* the parent of a process that had it: to look in its root */
	uint64_t used;
	uint8_t build_id[ELF_FILE_ID];
	struct mapping map; /* dev, ino and path */
};

struct code_function { /* offsets in the file */
	uint32_t serial; /* of the file */
	uint64_t start, end;
	char name[SYMBOL_NAME]; /* "": there is none between these two */
};

struct usym_files;

struct usym_files *usym_files_new(const char *procfs);
void usym_files_free(struct usym_files *f);

/* The file of a mapping; a new one is opened for its build id, if any opens are left. Or NULL. */
const struct code_file *usym_files_of(struct usym_files *f, uint32_t pid, const struct mapping *m,
				      uint32_t *opens);

const struct code_file *usym_files_by_id(struct usym_files *f,
					 const uint8_t id[static ELF_FILE_ID]);
const struct code_file *usym_files_at(const struct usym_files *f, uint32_t serial); /* NULL: gone */

/* Opens it, if it is still the one that was seen; -errno. */
int usym_files_open(struct usym_files *f, uint32_t pid, const struct code_file *c,
		    struct elf_file *out) MUST_CHECK;

void usym_files_keep(struct usym_files *f, const struct code_function *fn);
const struct code_function *usym_files_function(const struct usym_files *f, uint32_t serial,
						uint64_t offset);

// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file.h - what names an address in an ELF file of anybody's: its build id, where it is
 * loaded, its functions.
 *
 * The file may lie, and be changed or cut while it is read. So it is read in pieces, by pread:
 * libelf maps it (a file that is cut then kills the reader), or takes whole tables into memory.
 * 64 bit, this machine's byte order.
 */
#pragma once

#include "probe/symbol/symbol.h"

enum { ELF_FILE_ID = 20, ELF_FILE_LOADS = 8 };

struct elf_file {
	int fd; /* the caller's */
	uint64_t size;
	uint8_t build_id[ELF_FILE_ID]; /* a shorter one ends in zeros, none is all zeros */
	uint32_t nloads;
	struct elf_load {
		uint64_t offset, vaddr, size;
	} load[ELF_FILE_LOADS]; /* of code */
	uint64_t symbol_at, symbol_end; /* of .symtab, or else .dynsym: up to where it is read */
	uint64_t name_at, name_size;
};

int elf_file_open(struct elf_file *e, int fd) MUST_CHECK; /* -ENOEXEC: no such file */

/* For what lies at this offset in the file; false: it is not loaded as code. */
bool elf_file_ask(const struct elf_file *e, uint64_t offset, struct symbol_asked *a);

/* Reads about so many bytes of symbols. 1: that was all, and what was found has its name. */
int elf_file_step(struct elf_file *e, struct symbol_asked *a, size_t n, size_t bytes);

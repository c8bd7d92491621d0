// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file.h - reads an untrusted ELF file to name addresses: its build id, its load segments, its
 * functions.
 *
 * The content may be wrong, and the file may be changed or truncated while it is read. So it is
 * read in pieces with pread: libelf maps the file (truncation then kills the reader) or reads whole
 * tables into memory. Only 64-bit files in this machine's byte order.
 */
#pragma once

#include "probe/symbol/symbol.h"

enum { ELF_FILE_ID = 20, ELF_FILE_LOADS = 8 };

struct elf_file {
	int fd; /* the caller's */
	uint64_t size;
	uint8_t build_id[ELF_FILE_ID]; /* padded with zeros; all zeros: none */
	uint32_t nloads;
	struct elf_load {
		uint64_t offset, vaddr, size;
	} load[ELF_FILE_LOADS]; /* of code */
	uint64_t symbol_at, symbol_end; /* unread part of .symtab, or else .dynsym */
	uint64_t name_at, name_size;
};

int elf_file_open(struct elf_file *e, int fd) MUST_CHECK; /* -ENOEXEC: not such an ELF file */

/* Prepares the lookup of an offset in the file; false: it is not loaded as code. */
bool elf_file_lookup(const struct elf_file *e, uint64_t offset, struct symbol_lookup *a);

/* Reads about this number of bytes of symbols. 1: complete, and functions found have their names.
 */
int elf_file_step(struct elf_file *e, struct symbol_lookup *a, size_t n, size_t bytes);

// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file.h - the reader of untrusted ELF files: build id, load segments, symbol tables, and the
 * functions at given addresses.
 *
 * The content may be wrong, and the file may be changed or truncated while it is read. So it is
 * read in pieces with pread: libelf maps the file (truncation then kills the reader) or reads whole
 * tables into memory. Only 64-bit files in this machine's byte order.
 */
#pragma once

#include "probe/foreign/foreign.h"
#include "probe/symbol/symbol.h"

enum { ELF_FILE_ID = 20, ELF_FILE_LOADS = 8 };

struct elf_table { /* offsets in the file */
	uint64_t symbol_at, symbol_end; /* unread part of the symbols */
	uint64_t name_at, name_size;
};

struct elf_file {
	int fd; /* the caller's */
	uint64_t size;
	uint8_t build_id[ELF_FILE_ID]; /* padded with zeros; all zeros: none */
	uint32_t nloads;
	struct elf_load {
		uint64_t offset, vaddr, size;
	} load[ELF_FILE_LOADS]; /* of code */
	uint16_t machine; /* EM_... */
	uint32_t nsections;
	uint64_t section_at;
	struct elf_table table; /* .symtab, or else .dynsym */
	bool too_large; /* a table was skipped as it is larger than foreign_limits */
};

int elf_file_open(struct elf_file *e, int fd) MUST_CHECK; /* -ENOEXEC: not such an ELF file */

/* Prepares the lookup of an offset in the file; false: it is not loaded as code. */
bool elf_file_lookup(const struct elf_file *e, uint64_t offset, struct symbol_lookup *a);

/* The first usable table of this kind; false: none, or it is larger than foreign_limits. */
bool elf_file_table(struct elf_file *e, bool dynamic, struct elf_table *out);

uint64_t elf_file_offset(const struct elf_file *e, uint64_t address); /* of code; 0: none */

/*
 * Reads about this number of bytes of symbols. 1: complete, and functions found have their names;
 * -ENODATA: it ended early, as the file has a hole there or became shorter.
 */
int elf_file_step(struct elf_file *e, struct symbol_lookup *a, size_t n, size_t bytes);

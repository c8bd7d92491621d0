// SPDX-License-Identifier: Apache-2.0
/*
 * ksym.h - looks up the names of kernel addresses: by a kernel program (ksym_kernel.h) or, where
 * that is not possible, from /proc/kallsyms.
 *
 * No table of symbols is kept in memory: a pass reads the file in pieces and compares it with the
 * addresses to look up. ksyms_new opens the file and loads the program, while the probe still has
 * the privileges for both.
 */
#pragma once

#include "lib/base/base.h"

enum { KSYM_TEXT = 96, KSYM_MAX = 1280 /* addresses in one pass */ };

struct ksyms;

struct ksyms *ksyms_new(const char *procfs);
void ksyms_free(struct ksyms *k);

/* Whether the kernel program is used: a pass is then cheap and complete in one step. */
bool ksyms_quick(const struct ksyms *k);

/* Begins a pass for at most KSYM_MAX addresses, which may contain duplicates. */
void ksyms_begin(struct ksyms *k, const uint64_t *addr, size_t n);

/* Reads about this number of bytes. 1: the pass is complete; 0: call it again. */
int ksyms_step(struct ksyms *k, size_t bytes);

bool ksyms_hidden(const struct ksyms *k); /* kptr_restrict hid all addresses in the last pass */

/* For an address of the last pass: "do_fsync+0x1a", "ext4_sync_file+0x2c [ext4]", or "0xff..". */
const char *ksyms_name(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT]);

/* Likewise without the offset, and the range of the function; false: no name. */
bool ksyms_function(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT],
		    uint64_t *start, uint64_t *end);

DEFINE_AUTO(struct ksyms *, ksyms_free)

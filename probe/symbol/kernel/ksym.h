// SPDX-License-Identifier: Apache-2.0
/*
 * ksym.h - the names of kernel addresses, by the kernel itself (ksym_kernel.h) or, where it cannot,
 * from /proc/kallsyms.
 *
 * A table of all symbols would stay resident for a few frames: instead the file is read past the
 * addresses that are asked for, a piece at a time. It is opened while the probe may still see
 * addresses there, and the program loaded while it may do so: both when this is made.
 */
#pragma once

#include "lib/base/base.h"

enum { KSYM_TEXT = 96, KSYM_MAX = 1280 /* addresses in one pass */ };

struct ksyms;

struct ksyms *ksyms_new(const char *procfs);
void ksyms_free(struct ksyms *k);

/* A pass costs little and is over at once: by the kernel. */
bool ksyms_quick(const struct ksyms *k);

/* Begins a pass for these, which may repeat: at most KSYM_MAX. */
void ksyms_begin(struct ksyms *k, const uint64_t *addr, size_t n);

/* Reads about so many bytes. 1: the pass is over, as it is at once by the kernel; 0: go on. */
int ksyms_step(struct ksyms *k, size_t bytes);

bool ksyms_hidden(const struct ksyms *k); /* the last pass saw no addresses: kptr_restrict */

/* Of an address of the last pass: "do_fsync+0x1a", "ext4_sync_file+0x2c [ext4]"; or "0xff.." */
const char *ksyms_name(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT]);

/* Likewise without the offset, and from where to where that has this name; false: it has none. */
bool ksyms_function(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT],
		    uint64_t *start, uint64_t *end);

DEFINE_AUTO(struct ksyms *, ksyms_free)

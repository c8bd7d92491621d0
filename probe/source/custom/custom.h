// SPDX-License-Identifier: Apache-2.0
/*
 * custom.h - custom kernel programs of the operator: each NAME.bpf.o in a directory becomes the
 * source own.NAME, reported as NAME.conf beside it specifies. Reference: docs/custom-programs.md.
 *
 * The programs are loaded into the kernel as root, so only root may be able to write them. An error
 * in one turns that one off, with the reason; an error of the directory is the source "own".
 */
#pragma once

#include "probe/core/source.h"

enum { CUSTOM_PROGRAMS = 16, CUSTOM_SOURCES = CUSTOM_PROGRAMS + 1 };

/* The sources of that directory; owned by custom.c, valid until custom_forget. */
size_t custom_find(const char *dir, const struct source *out[static CUSTOM_SOURCES]);
void custom_forget(void);

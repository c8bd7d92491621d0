// SPDX-License-Identifier: Apache-2.0
/*
 * custom.h - kernel programs of the operator's own: of each NAME.bpf.o in a directory a source
 * own.NAME, told as the NAME.conf beside it says. docs/custom-programs.md is the reference.
 *
 * Root loads them into the kernel, so nobody else may be able to write them. What is wrong with one
 * turns that one off, with the reason; what is wrong with the directory is the source "own".
 */
#pragma once

#include "probe/core/source.h"

enum { OWN_PROGRAMS = 16, OWN_SOURCES = OWN_PROGRAMS + 1 };

/* The sources of that directory; they are custom.c's, until custom_forget. */
size_t custom_find(const char *dir, const struct source *out[static OWN_SOURCES]);
void custom_forget(void);

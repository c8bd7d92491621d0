// SPDX-License-Identifier: Apache-2.0
/*
 * custom_object.h - loads and attaches a custom kernel program with libbpf. Checks here restrict it
 * to observing.
 *
 * libbpf 1.1 crashes with SIGSEGV on one damaged object in 120
 * (tests/unit/probe/source/custom/test_custom_load.c), so this runs in a child process that only
 * returns its results (custom_load.h).
 */
#pragma once

#include "probe/source/custom/custom_manifest.h"

enum {
	CUSTOM_WHY = 256, /* a sentence, with the terminating 0 */
	CUSTOM_FDS = 96,
	CUSTOM_OBJECT_PROGRAMS = 16,
	CUSTOM_OBJECT_MAPS = 32,
	CUSTOM_MAP_BYTES = 4 << 20, /* of all maps of an object */
};

struct custom_fds {
	uint32_t n;
	uint32_t map[CUSTOM_MAPS]; /* index in fd[] of each map of the manifest */
	int fd[CUSTOM_FDS]; /* maps, programs and links; closing them removes them from the kernel
			     */
};

struct custom_file {
	const void *data; /* the object */
	size_t len;
	const char *name; /* "runqlat" */
	const char *conf; /* name of the manifest, for sentences */
};

/* 0: loaded and attached; -errno with a sentence in why, and nothing stays attached. */
int custom_object(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
		  char why[static CUSTOM_WHY]) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * custom_object.h - a kernel program of the operator's own, from its object to hooks in the kernel, by
 * libbpf. What an object may do is decided here: look on, and nothing else.
 *
 * libbpf 1.1 ends by SIGSEGV on one damaged object in 120 (tests/unit/probe/source/custom/test_custom_load.c), so this
 * runs in a process of its own (custom_load.h), which does not come back from it.
 */
#pragma once

#include "probe/source/custom/custom_manifest.h"

enum {
	OWN_WHY = 256, /* a sentence, with its end */
	OWN_FDS = 96,
	OWN_OBJECT_PROGRAMS = 16,
	OWN_OBJECT_MAPS = 32,
	OWN_MAP_BYTES = 4 << 20, /* of all maps of an object together */
};

struct custom_fds {
	uint32_t n;
	uint32_t map[OWN_MAPS]; /* which of fd[] is that of a map of the manifest */
	int fd[OWN_FDS]; /* of maps, programs and links: what keeps them in the kernel */
};

struct custom_file {
	const void *data; /* the object */
	size_t len;
	const char *name; /* "runqlat" */
	const char *conf; /* of the manifest, for sentences */
};

/* 0: loaded and attached; -errno with a sentence in why, and nothing stays attached. */
int own_object(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
	       char why[static OWN_WHY]) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * custom_load.h - runs custom_object in a child process, so that a damaged object can only crash
 * that. The child returns descriptors and numbers, which are checked against the kernel's own data.
 */
#pragma once

#include "probe/source/custom/custom_object.h"

enum { CUSTOM_LOAD_S = 20 }; /* time limit */

/* The shape of a map, as the kernel reports it. */
struct custom_shape {
	uint32_t type, key_size, value_size;
};

/* -errno with a sentence in why. The caller owns out->fd (custom_unload). */
int custom_load(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
		struct custom_shape shape[static CUSTOM_MAPS],
		char why[static CUSTOM_WHY]) MUST_CHECK;
void custom_unload(struct custom_fds *fds);

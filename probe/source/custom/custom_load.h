// SPDX-License-Identifier: Apache-2.0
/*
 * custom_load.h - has own_object run by a process of its own, which ends: what a damaged object does
 * to libbpf it does to that one. Only descriptors and numbers come back, and the kernel is asked
 * whether they can be right.
 */
#pragma once

#include "probe/source/custom/custom_object.h"

enum { OWN_LOAD_S = 20 }; /* then it is given up */

/* What of maps the kernel says itself. */
struct custom_shape {
	uint32_t type, key_size, value_size;
};

/* -errno with a sentence in why. out->fd is the caller's, to close each. */
int custom_load(const struct custom_file *f, struct custom_manifest *m, struct custom_fds *out,
	     struct custom_shape shape[static OWN_MAPS], char why[static OWN_WHY]) MUST_CHECK;
void custom_unload(struct custom_fds *fds);

// SPDX-License-Identifier: Apache-2.0
/* custom_types.h - finds the fields that a manifest names in keys and values, from the types (BTF)
 * of the object. */
#pragma once

#include "probe/source/custom/custom_manifest.h"

struct bpf_object;

/* Sets the position of each label and metric. -EINVAL with FILE:LINE and what exists instead. */
int custom_types(const struct bpf_object *o, const char *path, struct custom_manifest *m, char *err,
		 size_t errlen) MUST_CHECK;

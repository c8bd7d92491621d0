// SPDX-License-Identifier: Apache-2.0
/* own_types.h - where in keys and values is what a manifest names: by the types (BTF) of the
 * object.
 */
#pragma once

#include "probe/source/custom/own_manifest.h"

struct bpf_object;

/* Fills in where each label and metric is. -EINVAL with FILE:LINE and what there is instead. */
int own_types(const struct bpf_object *o, const char *path, struct own_manifest *m, char *err,
	      size_t errlen) MUST_CHECK;

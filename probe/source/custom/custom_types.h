// SPDX-License-Identifier: Apache-2.0
/* custom_types.h - where in keys and values is what a manifest names: by the types (BTF) of the
 * object.
 */
#pragma once

#include "probe/source/custom/custom_manifest.h"

struct bpf_object;

/* Fills in where each label and metric is. -EINVAL with FILE:LINE and what there is instead. */
int own_types(const struct bpf_object *o, const char *path, struct custom_manifest *m, char *err,
	      size_t errlen) MUST_CHECK;

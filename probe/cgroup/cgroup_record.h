// SPDX-License-Identifier: Apache-2.0
/* cgroup_record.h - the path of a cgroup as the kernel side told it, as the name of an entity. */
#pragma once

#include <linux/types.h>

#include "bpf/lib/cgroup_record.h"
#include "lib/wire/item.h"

void cgroup_record_text(const struct cgroup_record *c, uint64_t id, char text[static ITEM_MAX_TEXT]);

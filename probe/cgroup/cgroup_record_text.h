// SPDX-License-Identifier: Apache-2.0
/* cgroup_record_text.h - converts a cgroup path sent by a kernel program into an entity name. */
#pragma once

#include <linux/types.h>

#include "bpf/lib/cgroup_record.h"
#include "lib/wire/item.h"

void cgroup_record_text(const struct cgroup_record *c, uint64_t id,
			char text[static ITEM_MAX_TEXT]);

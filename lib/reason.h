// SPDX-License-Identifier: Apache-2.0
/* reason.h - the reason table, spelt once in schema/reasons.def. */
#pragma once

#include "base.h"

enum reason_id {
#define REASON(id, name, code, en, zh) R_##name = (id),
#include "../schema/reasons.def"
#undef REASON
};

struct reason {
	uint16_t id;
	const char *code, *en, *zh;
};

const struct reason *reason_table(size_t *n);
const struct reason *reason_find(uint64_t id); /* NULL: unknown to this version */

// SPDX-License-Identifier: Apache-2.0
/* reason.h - the tables of reasons and parts, from schema/def/reasons.def and parts.def. */
#pragma once

#include "lib/base/base.h"

enum reason_id {
#define REASON(id, name, code, en, zh) R_##name = (id),
#include "schema/def/reasons.def"
#undef REASON
};

struct reason {
	uint16_t id;
	const char *code, *en, *zh;
};

const struct reason *reason_table(size_t *n);
const struct reason *reason_find(uint64_t id); /* NULL: unknown to this version */

struct part_text { /* of enum part, in the order of the bar */
	uint8_t id;
	const char *code, *en, *zh;
};

const struct part_text *part_table(size_t *n);

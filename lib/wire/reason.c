// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/reason.h"

static const struct reason table[] = {
#define REASON(id, name, code, en, zh) { id, code, en, zh },
#include "schema/def/reasons.def"
#undef REASON
};

const struct reason *reason_table(size_t *n)
{
	*n = ARRAY_SIZE(table);
	return table;
}

const struct reason *reason_find(uint64_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].id == id)
			return &table[i];
	return NULL;
}

static const struct part_text parts[] = {
#define PART(id, NAME, code, en, zh) { id, code, en, zh },
#include "schema/def/parts.def"
#undef PART
};

const struct part_text *part_table(size_t *n)
{
	*n = ARRAY_SIZE(parts);
	return parts;
}

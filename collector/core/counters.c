// SPDX-License-Identifier: Apache-2.0
#include "collector/core/counters.h"

#include <inttypes.h>
#include <stdio.h>

_Atomic uint64_t counters[COUNTER_END];

static const struct {
	const char *type, *name, *labels, *help;
} table[COUNTER_END] = {
#define COUNTER(id, type, name, labels, help) { type, name, labels, help },
#include "collector/core/counters.def"
#undef COUNTER
};

void counters_text(struct buf *out)
{
	char line[512];
	int n;

	for (size_t i = 0; i < COUNTER_END; i++) {
		bool first = i == 0 || strcmp(table[i].name, table[i - 1].name) != 0;

		if (first) {
			n = snprintf(line, sizeof(line), "# HELP %s %s\n# TYPE %s %s\n",
				     table[i].name, table[i].help, table[i].name, table[i].type);
			buf_put(out, line, (size_t)n);
		}
		n = snprintf(line, sizeof(line), "%s%s%s%s %" PRIu64 "\n", table[i].name,
			     *table[i].labels ? "{" : "", table[i].labels,
			     *table[i].labels ? "}" : "", counter_get((enum counter)i));
		buf_put(out, line, (size_t)n);
	}
}

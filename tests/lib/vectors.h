// SPDX-License-Identifier: Apache-2.0
/* vectors.h - the hex test vectors of wire.md and chunk.md in docs/reference/: lines between
 * "```vector NAME" and "```". */
#pragma once

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/lib/test.h"

struct vector {
	uint8_t b[1024];
	size_t len;
};

static inline void vector_line(struct vector *v, const char *s)
{
	for (; isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1]);
	     s += s[2] == ' ' ? 3 : 2) {
		const char hex[] = { s[0], s[1], 0 };

		if (v->len < sizeof(v->b))
			v->b[v->len++] = (uint8_t)strtoul(hex, NULL, 16);
	}
}

/* Its bytes; a vector that is not there fails the test and has none. */
static inline struct vector vector_of_file(const char *path, const char *name)
{
	struct vector v = { .len = 0 };
	char line[512], open[64];
	bool in = false;
	FILE *f = fopen(path, "r");

	snprintf(open, sizeof(open), "```vector %s\n", name);
	while (f && fgets(line, sizeof(line), f)) {
		if (in && line[0] == '`')
			break;
		if (in)
			vector_line(&v, line);
		in |= strcmp(line, open) == 0;
	}
	if (f)
		fclose(f);
	if (!v.len) {
		printf("    %s has no vector \"%s\" (the tests run at the top level)\n", path,
		       name);
		test_failed = true;
	}
	return v;
}

static inline struct vector vector_of(const char *name)
{
	return vector_of_file("docs/reference/wire.md", name);
}

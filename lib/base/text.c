// SPDX-License-Identifier: Apache-2.0
#include "lib/base/text.h"

enum { ESCAPED = 4 }; /* most bytes out per byte in: \xNN, or \u{NNNN} for two and more */

const char *text_clean(struct arena *a, const char *s, size_t len)
{
	char *out;
	size_t plain = 0;

	while (plain < len && s[plain] >= 0x20 && s[plain] < 0x7f)
		plain++;
	if (plain == len)
		return arena_strndup(a, s, len);
	out = arena_alloc(a, ESCAPED * len + 1);
	text_clean_into(out, ESCAPED * len + 1, s, len);
	return out;
}

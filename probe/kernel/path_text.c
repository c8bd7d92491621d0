// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/path_text.h"

#include <stdio.h>

#include "lib/base/text.h"

/* Puts "/part" in front of the text at *at; false: no room. */
static bool put_before(char *text, size_t *at, const char *part, size_t len)
{
	if (*at < len + 1)
		return false;
	*at -= len;
	memcpy(text + *at, part, len);
	text[--*at] = '/';
	return true;
}

void path_text(const struct path_parts *p, bool deleted, char out[static ITEM_MAX_TEXT])
{
	static const char cut[] = "...", gone[] = " (deleted)";
	size_t room = ITEM_MAX_TEXT - sizeof(cut) - sizeof(gone), at = room, i = 0;
	size_t len = p->len < PATH_BYTES ? p->len : PATH_BYTES;
	char path[ITEM_MAX_TEXT], whole[ITEM_MAX_TEXT];
	bool fits = true;

	while (i < len && fits) {
		size_t n = strnlen(p->b + i, len - i);

		fits = put_before(path, &at, p->b + i, n);
		i += n + 1;
	}
	snprintf(whole, sizeof(whole), "%s%.*s%s", p->whole && fits ? "" : cut, (int)(room - at),
		 path + at, deleted ? gone : "");
	text_clean_into(out, ITEM_MAX_TEXT, whole, strlen(whole));
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/core/on_demand.h"

#include <stdio.h>

static const char *const names[] = {
#define SOURCE(name)
#define ON_DEMAND(name) #name,
#include "probe/core/sources.def"
#undef SOURCE
};

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(word, name, len) == 0;
}

bool on_demand_is(const char *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], source) == 0)
			return true;
	return false;
}

/* The next word of a list, without separators; false at the end. */
static bool next_word(const char **list, const char **word, size_t *len)
{
	*word = *list + strspn(*list, ", ");
	*len = strcspn(*word, ", ");
	*list = *word + *len;
	return *len > 0;
}

bool on_demand_enabled(const char *list, const char *source)
{
	const char *word;
	size_t len;

	while (next_word(&list, &word, &len))
		if (is_word(word, len, source) || is_word(word, len, "all"))
			return true;
	return false;
}

bool on_demand_known(const char *list)
{
	const char *word;
	size_t len;

	while (next_word(&list, &word, &len)) {
		bool known = is_word(word, len, "all");

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			known |= is_word(word, len, names[i]);
		if (!known)
			return false;
	}
	return true;
}

void on_demand_names(char *text, size_t room)
{
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names) && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", i ? "," : "", names[i]);
}

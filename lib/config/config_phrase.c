// SPDX-License-Identifier: Apache-2.0
#include "lib/config/config_phrase.h"

#include <assert.h>
#include <ctype.h>

enum { CHOICES = 96 };

const char *config_arg(const struct config_option *o)
{
	if (o->arg)
		return o->arg;
	switch (o->type) {
	case CONFIG_BOOL:
		return "";
	case CONFIG_INT:
	case CONFIG_REAL:
		return "N";
	case CONFIG_CHOICE:
		return "WORD";
	case CONFIG_STR:
		break;
	}
	return "TEXT";
}

static const char *config_default(const struct config_option *o)
{
	if (o->initial)
		return o->initial;
	return o->none ? o->none : "none";
}

void config_help_line(const struct config_option *o, char text[static CONFIG_PHRASE])
{
	char choices[CHOICES] = "";

	if (o->type == CONFIG_CHOICE)
		config_choices(o, choices, sizeof(choices));
	snprintf(text, CONFIG_PHRASE, "%s (%s%s%s%sdefault %s)", o->help, choices,
		 *choices ? "; " : "", o->unit ? o->unit : "", o->unit ? ", " : "",
		 config_default(o));
}

/* "Whole number from 1 to 1024 (MiB)"; "" if any text is allowed. */
static void describe_values(const struct config_option *o, char *text, size_t size)
{
	char choices[CHOICES];
	size_t len;

	text[0] = 0;
	switch (o->type) {
	case CONFIG_STR:
		return;
	case CONFIG_BOOL:
		snprintf(text, size, "yes or no");
		return;
	case CONFIG_CHOICE:
		config_choices(o, choices, sizeof(choices));
		snprintf(text, size, "%s", choices);
		return;
	case CONFIG_INT:
	case CONFIG_REAL:
		break;
	}
	snprintf(text, size, "%s", o->type == CONFIG_INT ? "whole number" : "number");
	len = strlen(text);
	if (o->min < o->max)
		snprintf(text + len, size - len, " from %.15g to %.15g", o->min, o->max);
	len = strlen(text);
	if (o->unit)
		snprintf(text + len, size - len, " (%s)", o->unit);
}

void config_sentences(const struct config_option *o, char text[static CONFIG_PHRASE])
{
	char values[CONFIG_PHRASE / 2];

	describe_values(o, values, sizeof(values));
	snprintf(text, CONFIG_PHRASE, "%s.%s%s%s Default: %s%s%s.", o->help,
		 *values ? " Value: " : "", values, *values ? "." : "", o->initial ? "`" : "",
		 config_default(o), o->initial ? "`" : "");
	text[0] = (char)toupper((unsigned char)text[0]);
}

const struct config_section *config_find_section(const struct config_program *p,
						 const struct config_option *o)
{
	const struct config_section *s = p->sections;

	while (s < p->sections + p->nsections && strcmp(s->name, o->section) != 0)
		s++;
	assert(s < p->sections + p->nsections);
	return s;
}

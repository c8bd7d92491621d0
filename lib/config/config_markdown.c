// SPDX-License-Identifier: Apache-2.0
#include "lib/config/config_markdown.h"

#include "lib/config/config_phrase.h"

static void put_option(const struct config_program *p, const struct config_option *o, FILE *out)
{
	char flag[CONFIG_FLAG], text[CONFIG_PHRASE];
	const char *arg = config_arg(o), *name = p->file ? o->key : flag;
	bool prefix = p->main_section && strcmp(o->section, p->main_section) != 0;

	config_flag(p, o, flag);
	fprintf(out, "\n#### `%s%s%s`\n\n", prefix ? o->section : "", prefix ? "." : "", name);
	config_sentences(o, text);
	fprintf(out, "%s", text);
	if (p->file)
		fprintf(out, " Flag: `%s%s%s`.", flag, *arg ? " " : "", arg);
	fputc('\n', out);
	if (o->more)
		fprintf(out, "%s\n", o->more);
	if (o->example)
		fprintf(out, "Example: `%s`.\n", o->example);
}

void config_markdown(const struct config_program *p, FILE *out)
{
	const char *section = "";

	fprintf(out, "\n## %s\n\n", p->name);
	if (p->file)
		fprintf(out, "Usual file: `%s`.\n", p->file);
	else
		fprintf(out, "It has flags and no configuration file.\n");
	for (size_t i = 0; i < p->noptions; i++) {
		const struct config_option *o = &p->options[i];
		const struct config_section *s = config_find_section(p, o);

		if (strcmp(section, o->section) != 0) {
			fprintf(out, "\n### `[%s]`: %s\n", s->name, s->title);
			if (s->more)
				fprintf(out, "\n%s\n", s->more);
		}
		section = o->section;
		put_option(p, o, out);
	}
}

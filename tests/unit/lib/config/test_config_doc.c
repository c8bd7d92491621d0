// SPDX-License-Identifier: Apache-2.0
/* The printed documentation of the three programs against what they do. */
#include "tests/lib/test.h"

#include <ctype.h>

#include "collector/command/command.h"
#include "lib/config/config_doc.h"
#include "lib/config/config_phrase.h"
#include "probe/core/probe_config.h"
#include "replay/options.c" /* in no archive */

enum { ROOM = 64 * 1024, COLUMNS = 100 };

static const struct config_program *const programs[] = { &probe_program, &collector_program,
							 &replay_program };
static char text[ROOM], err[512];

/* What the program prints, in text. */
static void print(const struct config_program *p, const char *format)
{
	struct config_command commands[COMMANDS];
	size_t n = p == &collector_program ? command_list(commands) : 0;
	FILE *f = fmemopen(text, sizeof(text), "w");

	CHECK_EQ(config_doc_print(p, commands, n, format, f), 0);
	fclose(f);
}

/* The line of --help about an option. */
static const char *line_of(const struct config_program *p, const struct config_option *o)
{
	static char line[CONFIG_PHRASE];
	char flag[CONFIG_FLAG + 3];
	const char *at;

	memcpy(flag, "\n  ", 3);
	config_flag(p, o, flag + 3);
	print(p, "");
	for (at = text; (at = strstr(at, flag)) != NULL; at++)
		if (at[strlen(flag)] == ' ')
			break;
	CHECK(at != NULL);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	return line;
}

/* "(MiB, default 6)" at the end of the line. */
static const char *printed_default(const struct config_program *p, const struct config_option *o)
{
	static char value[CONFIG_PHRASE];
	const char *at = strstr(line_of(p, o), "default ");

	CHECK(at != NULL && at[strlen(at) - 1] == ')');
	snprintf(value, sizeof(value), "%.*s", (int)strlen(at) - 9, at + strlen("default "));
	return value;
}

/* Reads what main reads. */
static void read_program(const struct config_program *p, char *flag, void *into)
{
	char name[] = "program";
	char *argv[] = { name, flag, NULL };
	int argc = flag ? 2 : 1, task;

	if (p == &probe_program)
		CHECK_EQ(probe_config_read(argc, argv, into, (enum probe_task *)&task, err,
					   sizeof(err)),
			 0);
	else if (p == &collector_program)
		CHECK_EQ(config_read(argc, argv, into, (enum config_task *)&task, err, sizeof(err)),
			 0);
	else /* some flags are required */
		(void)!replay_options_read(argc, argv, into, (enum replay_task *)&task, err,
					   sizeof(err));
}

static void check_default(const struct config_program *p, const struct config_option *o)
{
	static char empty[ROOM], given[ROOM];
	char flag[CONFIG_FLAG], arg[CONFIG_FLAG + CONFIG_PHRASE];
	const char *value = printed_default(p, o);

	memset(empty, 0, sizeof(empty));
	memset(given, 0, sizeof(given));
	read_program(p, NULL, empty);
	if (!o->initial) {
		CHECK_EQ(o->type, CONFIG_STR);
		CHECK(p == &probe_program && strcmp(o->key, "node") == 0 ? empty[o->offset] != 0
									 : empty[o->offset] == 0);
		return;
	}
	config_flag(p, o, flag);
	snprintf(arg, sizeof(arg), "%s=%s", flag, value);
	read_program(p, arg, given);
	CHECK(memcmp(empty + o->offset, given + o->offset, o->size) == 0);
}

TEST(each_printed_default_is_what_an_empty_configuration_has)
{
	CHECK(sizeof(struct replay_options) < ROOM && sizeof(struct config) < ROOM);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		for (size_t k = 0; k < programs[i]->noptions; k++)
			check_default(programs[i], &programs[i]->options[k]);
}

/* A phrase that begins with a noun or an imperative, and stands alone. */
static bool is_phrase(const char *help)
{
	static const char *const bad[] = { "and ",  "of ",    "in ",   "by ",	   "what ",
					   "who ",  "so ",    "it ",   "likewise", "also ",
					   "that ", "which ", "where " };
	static const char *const worse[] = { "tell",	"told", "whoever", "of which",
					     "default", "(",	")",	   "  " };

	if (!islower((unsigned char)*help) && strncmp(help, "CPU ", 4) != 0 &&
	    strncmp(help, "URL ", 4) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strncmp(help, bad[i], strlen(bad[i])) == 0)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(worse); i++)
		if (strstr(help, worse[i]))
			return false;
	return strlen(help) >= 5 && help[strlen(help) - 1] != '.';
}

static void check_line(const struct config_program *p, const struct config_option *o)
{
	const bool number = o->type == CONFIG_INT || o->type == CONFIG_REAL;
	char unit[64], flag[CONFIG_FLAG];
	const char *line = line_of(p, o);

	config_flag(p, o, flag);
	CHECK(is_phrase(o->help));
	CHECK(strlen(line) <= COLUMNS);
	CHECK(strlen(flag) < CONFIG_FLAG - 1); /* none is cut */
	CHECK_EQ(number, o->unit != NULL);
	CHECK_EQ(o->type == CONFIG_CHOICE, o->choices != NULL);
	snprintf(unit, sizeof(unit), "(%s, default ", o->unit ? o->unit : "");
	CHECK(!number || strstr(line, unit));
	CHECK(!o->in_sample || o->example);
	CHECK(!o->more || o->more[strlen(o->more) - 1] == '.');
}

TEST(each_line_of_help_is_a_phrase_with_unit_and_default)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		for (size_t k = 0; k < programs[i]->noptions; k++)
			check_line(programs[i], &programs[i]->options[k]);
}

TEST(no_line_of_help_is_too_long)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		print(programs[i], "text");
		for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
			CHECK(strcspn(at, "\n") <= COLUMNS);
	}
}

TEST(every_text_names_every_option)
{
	static const char *const formats[] = { "man", "conf", "markdown", "sample" };
	char name[64];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(formats); i++) {
		const struct config_program *p = programs[i / ARRAY_SIZE(formats)];
		const char *format = formats[i % ARRAY_SIZE(formats)];

		print(p, format);
		CHECK(strlen(text) < ROOM - 1);
		for (size_t k = 0; k < p->noptions; k++) {
			char *c = name;

			if (strcmp(format, "man") == 0)
				config_flag(p, &p->options[k], name);
			else
				snprintf(name, sizeof(name), "%s", p->options[k].key);
			if (strcmp(format, "man") == 0) /* - is \- there */
				c = strrchr(name, '-') + 1;
			CHECK(strstr(text, c));
		}
	}
}

TEST(a_program_without_a_file_has_no_sample)
{
	CHECK_EQ(config_doc_print(&replay_program, NULL, 0, "sample", stdout), -EINVAL);
	CHECK_EQ(config_doc_print(&replay_program, NULL, 0, "conf", stdout), -EINVAL);
	CHECK_EQ(config_doc_print(&probe_program, NULL, 0, "nonsense", stdout), -EINVAL);
}

TEST(the_phrases_of_an_option_are_made_from_its_table)
{
	static const struct config_option mode = {
		"a",
		"b",
		CONFIG_CHOICE,
		0,
		8,
		.choices = "auto|on|off",
		.initial = "auto",
		.help = "use of it",
	};
	static const struct config_option size = {
		"a",
		"b",
		CONFIG_INT,
		0,
		8,
		.min = 1,
		.max = 9,
		.unit = "MiB",
		.initial = "6",
		.help = "size of it",
	};
	char phrase[CONFIG_PHRASE];

	config_help_line(&mode, phrase);
	CHECK_STR(phrase, "use of it (auto, on or off; default auto)");
	config_sentences(&mode, phrase);
	CHECK_STR(phrase, "Use of it. Value: auto, on or off. Default: `auto`.");
	config_help_line(&size, phrase);
	CHECK_STR(phrase, "size of it (MiB, default 6)");
	config_sentences(&size, phrase);
	CHECK_STR(phrase, "Size of it. Value: whole number from 1 to 9 (MiB). Default: `6`.");
}

TEST(a_manual_page_escapes_what_the_formatter_would_read)
{
	static const struct config_section groups[] = { { "s", "S", NULL } };
	static const struct config_option option = {
		"s", "k", CONFIG_STR, 0, 8, .help = "text", .more = ".dot\n'quote a-b \\ `bold`"
	};
	static const char *const lines[] = { "[X]", NULL };
	static const struct config_program p = { .name = "p",
						 .version = "1",
						 .manual = "8",
						 .summary = "s",
						 .usage = lines,
						 .about = "a.",
						 .file = "/f",
						 .sections = groups,
						 .nsections = 1,
						 .options = &option,
						 .noptions = 1 };

	print(&p, "conf");
	CHECK(strstr(text, "\n\\&.dot\n\\&'quote a\\-b \\e \\fBbold\\fR\n"));
	CHECK(strstr(text, "\n.SS [s]\n.TP\n\\fBk\\fR\n"));
}

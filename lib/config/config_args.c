// SPDX-License-Identifier: Apache-2.0
#include "lib/config/config_args.h"

void config_flag(const struct config_program *p, const struct config_option *o,
		 char flag[static CONFIG_FLAG])
{
	bool prefix = p->main_section && strcmp(o->section, p->main_section) != 0;

	snprintf(flag, CONFIG_FLAG, "--%s%s%s", prefix ? o->section : "", prefix ? "-" : "",
		 o->key);
	for (char *c = flag; *c; c++)
		if (*c == '_')
			*c = '-';
}

/* "--flag" or "--flag=value": the value, "" without one; NULL: another argument. */
static const char *value_of(const char *arg, const char *flag)
{
	size_t len = strlen(flag);

	if (strncmp(arg, flag, len) != 0 || (arg[len] && arg[len] != '='))
		return NULL;
	return arg + len + (arg[len] == '=');
}

/* The option that arg names and its value: "--key value", "--key=value", or "--bool" alone. */
static const struct config_option *find_option(const struct config_program *p, const char *arg,
					       const char *next, const char **value,
					       bool *uses_next)
{
	char flag[CONFIG_FLAG];

	for (size_t i = 0; i < p->noptions; i++) {
		const struct config_option *o = &p->options[i];
		bool alone;

		config_flag(p, o, flag);
		*value = value_of(arg, flag);
		if (!*value)
			continue;
		alone = strlen(arg) == strlen(flag);
		*uses_next = alone && o->type != CONFIG_BOOL;
		if (alone)
			*value = *uses_next ? next : "yes";
		return o;
	}
	return NULL;
}

/* Errors of config_set name "[request] ring_mb"; here the operator wrote --ring-mb. */
static int set_flag(const struct config_program *p, const struct config_option *o,
		    const char *value, void *into, char *err, size_t errlen)
{
	char what[400], flag[CONFIG_FLAG];
	size_t skip = strlen(o->section) + strlen(o->key) + strlen("[] ");
	int r;

	config_flag(p, o, flag);
	if (!value)
		return config_refuse(err, errlen, "%s needs a value: %s", flag, o->help);
	r = config_set(p->options, p->noptions, into, o->section, o->key, value, what,
		       sizeof(what));
	if (r < 0)
		snprintf(err, errlen, "%s%s", flag, what + (strlen(what) > skip ? skip : 0));
	return r;
}

/* Reads argv[*i] and, if the flag takes one, the value behind it. */
static int take_flag(const struct config_program *p, int argc, char *const argv[], int *i,
		     void *into, char *err, size_t errlen)
{
	const char *value, *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	bool uses_next;
	const struct config_option *o = find_option(p, argv[*i], next, &value, &uses_next);

	if (!o)
		return config_refuse(err, errlen, "%s is not a flag of %s; --help lists them all",
				     argv[*i], p->name);
	*i += uses_next;
	return set_flag(p, o, value, into, err, errlen);
}

static const struct config_word *find_word(const struct config_program *p, const char *arg)
{
	for (size_t i = 0; i < p->nwords; i++)
		if (strcmp(arg, p->words[i].name) == 0)
			return &p->words[i];
	return NULL;
}

/* --help=FORMAT is the only word with a value. */
static const struct config_word *read_word(const struct config_program *p, const char *arg,
					   struct config_args *out)
{
	const char *format = value_of(arg, "--help");
	const struct config_word *w = find_word(p, format ? "--help" : arg);

	if (w && format)
		out->format = format;
	if (w)
		out->task = w->task;
	return w;
}

static bool is_config(const struct config_program *p, const char *arg)
{
	return p->file && strcmp(arg, "--config") == 0;
}

/* Reads each --config, wherever it stands, because flags override the file. */
static int load_files(const struct config_program *p, int argc, char *const argv[], void *into,
		      char *err, size_t errlen)
{
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++) {
		if (!is_config(p, argv[i]))
			continue;
		if (++i == argc)
			return config_refuse(err, errlen, "--config needs the path of a file");
		r = config_load(p->options, p->noptions, into, argv[i], err, errlen);
	}
	return r;
}

int config_args_read(const struct config_program *p, int argc, char *const argv[], void *into,
		     struct config_args *out, char *err, size_t errlen)
{
	int r;

	config_defaults(p->options, p->noptions, into);
	out->format = "";
	r = load_files(p, argc, argv, into, err, errlen);
	for (int i = 1; i < argc && r == 0; i++) {
		const struct config_word *w = read_word(p, argv[i], out);

		out->rest = argv + i;
		if (w && w->last)
			return 0;
		if (is_config(p, argv[i]))
			i++;
		else if (!w)
			r = take_flag(p, argc, argv, &i, into, err, errlen);
	}
	return r;
}

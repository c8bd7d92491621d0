// SPDX-License-Identifier: Apache-2.0
#include "lib/config/config.h"

#include <assert.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

struct load {
	const struct config_visit *visit;
	const char *path;
	char *err;
	size_t errlen;
	FILE *file;
	int line;
	int r; /* the first error; later lines are ignored */
};

struct table {
	const struct config_option *options;
	size_t n;
	void *into;
	const char *section; /* of the current line */
};

int config_refuse(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool is_bounded(const struct config_option *o)
{
	return o->min < o->max;
}

static int refuse_number(const struct config_option *o, const char *value, const char *what,
			 char *err, size_t errlen)
{
	if (is_bounded(o))
		return config_refuse(err, errlen,
				     "[%s] %s = \"%s\": %s from %.15g to %.15g is allowed",
				     o->section, o->key, value, what, o->min, o->max);
	return config_refuse(err, errlen, "[%s] %s = \"%s\": %s is allowed", o->section, o->key,
			     value, what);
}

static bool in_range(const struct config_option *o, double v)
{
	return !is_bounded(o) || (v >= o->min && v <= o->max);
}

static int set_str(const struct config_option *o, char *field, const char *value, char *err,
		   size_t errlen)
{
	size_t len = strlen(value);

	if (len >= o->size)
		return config_refuse(err, errlen,
				     "[%s] %s is %zu bytes long: at most %zu are allowed",
				     o->section, o->key, len, o->size - 1);
	if (o->min >= 1 && !len)
		return config_refuse(err, errlen, "[%s] %s is empty: a value is required",
				     o->section, o->key);
	memset(field, 0, o->size);
	memcpy(field, value, len);
	return 0;
}

static int set_int(const struct config_option *o, int64_t *field, const char *value, char *err,
		   size_t errlen)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(value, &end, 10);
	if (errno || end == value || *end || !in_range(o, (double)v))
		return refuse_number(o, value, "a whole number", err, errlen);
	*field = v;
	return 0;
}

static int set_real(const struct config_option *o, double *field, const char *value, char *err,
		    size_t errlen)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !isfinite(v) || !in_range(o, v))
		return refuse_number(o, value, "a number", err, errlen);
	*field = v;
	return 0;
}

static int set_bool(const struct config_option *o, bool *field, const char *value, char *err,
		    size_t errlen)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(value, words[i]) == 0) {
			*field = i % 2;
			return 0;
		}
	}
	return config_refuse(err, errlen, "[%s] %s = \"%s\": yes or no is allowed", o->section,
			     o->key, value);
}

static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value), n;

	for (const char *c = choices; *c; c += n + (c[n] == '|')) {
		n = strcspn(c, "|");
		if (n == len && memcmp(c, value, n) == 0)
			return true;
	}
	return false;
}

void config_choices(const struct config_option *o, char *text, size_t size)
{
	const char *c = o->choices, *before = "";
	size_t at = 0;

	for (;;) {
		size_t n = strcspn(c, "|");

		at += (size_t)snprintf(text + at, size - at, "%s%.*s", before, (int)n, c);
		assert(at < size);
		if (!c[n])
			return;
		c += n + 1;
		before = strchr(c, '|') ? ", " : " or ";
	}
}

static int set_choice(const struct config_option *o, char *field, const char *value, char *err,
		      size_t errlen)
{
	char allowed[128];

	if (is_choice(o->choices, value))
		return set_str(o, field, value, err, errlen);
	config_choices(o, allowed, sizeof(allowed));
	return config_refuse(err, errlen, "[%s] %s = \"%s\": %s is allowed", o->section, o->key,
			     value, allowed);
}

static int set_field(const struct config_option *o, void *into, const char *value, char *err,
		     size_t errlen)
{
	void *field = (char *)into + o->offset;

	switch (o->type) {
	case CONFIG_STR:
		return set_str(o, field, value, err, errlen);
	case CONFIG_INT:
		assert(o->size == sizeof(int64_t));
		return set_int(o, field, value, err, errlen);
	case CONFIG_REAL:
		assert(o->size == sizeof(double));
		return set_real(o, field, value, err, errlen);
	case CONFIG_BOOL:
		assert(o->size == sizeof(bool));
		return set_bool(o, field, value, err, errlen);
	case CONFIG_CHOICE:
		return set_choice(o, field, value, err, errlen);
	}
	return -EINVAL;
}

/* The error lists the keys of the section, or the sections if the section is unknown. */
static int refuse_name(const struct config_option *table, size_t n, const char *section,
		       const char *key, char *err, size_t errlen)
{
	const char *last = "";
	bool known = false;
	size_t len;

	for (size_t i = 0; i < n; i++)
		known |= strcmp(table[i].section, section) == 0;
	if (known)
		config_refuse(err, errlen, "[%s] has no key \"%s\"; its keys are", section, key);
	else if (*key && !*section)
		config_refuse(err, errlen, "\"%s\" is not in a section; the sections are", key);
	else
		config_refuse(err, errlen, "there is no section [%s]; the sections are", section);
	for (size_t i = 0; i < n; i++) {
		len = strnlen(err, errlen);
		if (known && strcmp(table[i].section, section) == 0)
			snprintf(err + len, errlen - len, " %s", table[i].key);
		else if (!known && strcmp(table[i].section, last) != 0)
			snprintf(err + len, errlen - len, " [%s]", table[i].section);
		last = table[i].section;
	}
	return -EINVAL;
}

int config_set(const struct config_option *table, size_t n, void *into, const char *section,
	       const char *key, const char *value, char *err, size_t errlen)
{
	assert(errlen);
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].section, section) == 0 && strcmp(table[i].key, key) == 0)
			return set_field(&table[i], into, value, err, errlen);
	return refuse_name(table, n, section, key, err, errlen);
}

void config_defaults(const struct config_option *table, size_t n, void *into)
{
	char err[256];

	for (size_t i = 0; i < n; i++) {
		const struct config_option *o = &table[i];
		char *text = (char *)into + o->offset;
		int r = 0;

		if (o->initial)
			r = set_field(o, into, o->initial, err, sizeof(err));
		else
			*text = 0;
		assert(r == 0 && (o->initial || o->type == CONFIG_STR));
	}
}

static void fail_at(struct load *l, int r, const char *what)
{
	if (l->r == 0) {
		l->r = r;
		snprintf(l->err, l->errlen, "%s:%d: %s", l->path, l->line, what);
	}
}

static int on_pair(void *arg, const char *section UNUSED, const char *key, const char *value)
{
	struct load *l = arg;
	char what[512];
	int r;

	if (l->r < 0)
		return 1;
	r = l->visit->pair(l->visit->arg, key, value ? value : "", what, sizeof(what));
	if (r < 0)
		fail_at(l, r, what);
	return 1;
}

/* inih has no callback for the line of a section, and accepts one without ]. */
static void check_section(struct load *l, const char *line)
{
	size_t len = strcspn(line + 1, "]");
	char name[64], what[512];
	int r;

	if (!line[1 + len])
		return fail_at(l, -EINVAL, "the section's name has no ] at its end");
	snprintf(name, sizeof(name), "%.*s", (int)len, line + 1);
	r = len < sizeof(name)
		    ? l->visit->section(l->visit->arg, l->line, name, what, sizeof(what))
		    : config_refuse(what, sizeof(what), "the section's name is too long");
	if (r < 0)
		fail_at(l, r, what);
}

/*
 * Reads a line for inih and counts it. Leading blanks are removed, because inih takes an indented
 * line for the continuation of the previous one. A line that inih would split is refused.
 */
static char *read_line(char *line, int size, void *arg)
{
	struct load *l = arg;
	size_t blank;

	if (l->r < 0 || !fgets(line, size, l->file))
		return NULL;
	l->line++;
	if (!strchr(line, '\n') && !feof(l->file)) {
		fail_at(l, -EINVAL,
			"the line is too long, or has a zero byte: at most 198 bytes "
			"are allowed");
		return NULL;
	}
	blank = strspn(line, " \t\r\f\v");
	memmove(line, line + blank, strlen(line + blank) + 1);
	if (*line == '[')
		check_section(l, line);
	return l->r < 0 ? NULL : line;
}

int config_read_file(FILE *f, const char *path, const struct config_visit *v, char *err,
		     size_t errlen)
{
	struct load l = { .visit = v, .path = path, .err = err, .errlen = errlen, .file = f };
	int bad;

	assert(errlen);
	bad = ini_parse_stream(read_line, &l, on_pair, &l);
	if (l.r == 0 && ferror(l.file)) {
		l.r = -EIO;
		snprintf(err, errlen, "%s cannot be read", path);
	}
	if (l.r == 0 && bad > 0) {
		l.line = bad;
		fail_at(&l, -EINVAL, "neither [section] nor key = value");
	}
	return l.r;
}

static int to_section(void *arg, int line UNUSED, const char *name, char *err, size_t errlen)
{
	struct table *t = arg;

	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->options[i].section, name) == 0) {
			t->section = t->options[i].section;
			return 0;
		}
	}
	return refuse_name(t->options, t->n, name, "", err, errlen);
}

static int to_field(void *arg, const char *key, const char *value, char *err, size_t errlen)
{
	struct table *t = arg;

	return config_set(t->options, t->n, t->into, t->section, key, value, err, errlen);
}

int config_load(const struct config_option *table, size_t n, void *into, const char *path,
		char *err, size_t errlen)
{
	struct table t = { .options = table, .n = n, .into = into, .section = "" };
	const struct config_visit visit = { to_section, to_field, &t };
	FILE *f = fopen(path, "re");
	int r = -errno;

	assert(errlen);
	if (!f) {
		snprintf(err, errlen, "%s: %s", path, strerror(-r));
		return r;
	}
	r = config_read_file(f, path, &visit, err, errlen);
	fclose(f);
	return r;
}

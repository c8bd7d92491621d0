// SPDX-License-Identifier: Apache-2.0
#include "replay/csv.h"

#include <inttypes.h>

enum { FIELDS = 64 };

int csv_bad(struct csv *c, const char *what)
{
	snprintf(c->why, CSV_WHY, "%s:%lu: %s", c->path, c->line, what);
	return -EINVAL;
}

/* Takes one field from *at on and removes its quotes; -1: a quote is not closed. */
static char *take_field(char **at)
{
	char *from = *at, *to = *at, *value = *at;
	bool quoted = *from == '"';

	for (from += quoted; *from && (quoted || *from != ','); from++) {
		if (quoted && *from == '"' && *++from != '"') {
			quoted = false;
			from--;
			continue;
		}
		*to++ = *from;
	}
	if (quoted)
		return NULL;
	*at = *from ? from + 1 : NULL;
	*to = 0;
	return value;
}

static int split(struct csv *c, char *field[static FIELDS], int *n)
{
	char *at = c->text;
	size_t len = strlen(at);

	if (len + 1 == sizeof(c->text) && at[len - 1] != '\n')
		return csv_bad(c, "the line is longer than 4,095 bytes");
	while (len && (at[len - 1] == '\n' || at[len - 1] == '\r'))
		at[--len] = 0;
	for (*n = 0; at; ++*n) {
		if (*n == FIELDS)
			return csv_bad(c, "there are more than 64 columns");
		field[*n] = take_field(&at);
		if (!field[*n])
			return csv_bad(c, "a quote is not closed on this line");
	}
	return 0;
}

/* True: a NUL ends the text before the end of the line. */
static bool is_cut(const struct csv *c)
{
	size_t len = strlen(c->text);

	return !len || (c->text[len - 1] != '\n' && len + 1 < sizeof(c->text) && !feof(c->file));
}

/* Spreadsheets begin a file with a byte order mark. */
static void skip_mark(struct csv *c)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n = sizeof(mark) - 1;

	if (c->line == 1 && strncmp(c->text, mark, n) == 0)
		memmove(c->text, c->text + n, strlen(c->text + n) + 1);
}

static int read_line(struct csv *c, char *field[static FIELDS], int *n)
{
	do {
		if (!fgets(c->text, sizeof(c->text), c->file))
			return ferror(c->file) ? csv_bad(c, "reading stopped") : 0;
		c->line++;
		if (is_cut(c))
			return csv_bad(c, "this is no text");
		skip_mark(c);
	} while (c->text[0] == '\n' || c->text[0] == '#');
	return split(c, field, n) < 0 ? -EINVAL : 1;
}

static int find_column(struct csv *c, const struct csv_column *wanted, char **field, int n)
{
	char what[128];
	int place = -1;

	for (int k = 0; k < n; k++) {
		if (strcmp(field[k], wanted->name) != 0)
			continue;
		if (place >= 0) {
			snprintf(what, sizeof(what), "the first line names column %s twice",
				 wanted->name);
			return csv_bad(c, what);
		}
		place = k;
	}
	if (place < 0 && wanted->needed) {
		snprintf(what, sizeof(what), "the first line names no column %s", wanted->name);
		return csv_bad(c, what);
	}
	return place;
}

static int find_columns(struct csv *c, const struct csv_column *wanted, size_t n)
{
	char *field[FIELDS];
	int nfields, r = read_line(c, field, &nfields);

	if (r <= 0)
		return r < 0 ? r
			     : csv_bad(c, "the file is empty; its first line names the columns");
	for (size_t i = 0; i < n; i++) {
		c->place[i] = find_column(c, &wanted[i], field, nfields);
		if (c->place[i] < -1)
			return c->place[i];
	}
	return 0;
}

int csv_open(struct csv *c, const char *path, const struct csv_column *wanted, size_t n, char *why)
{
	int r;

	*c = (struct csv){ .path = path, .why = why };
	c->file = fopen(path, "re");
	if (!c->file) {
		snprintf(why, CSV_WHY, "%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	r = find_columns(c, wanted, n);
	if (r < 0)
		csv_close(c);
	return r;
}

void csv_close(struct csv *c)
{
	if (c->file)
		fclose(c->file);
	c->file = NULL;
}

int csv_next(struct csv *c, size_t n)
{
	char *field[FIELDS];
	int nfields, r = read_line(c, field, &nfields);

	for (size_t i = 0; r > 0 && i < n; i++) {
		if (c->place[i] >= nfields)
			return csv_bad(c, "there are fewer columns than in the first line");
		c->value[i] = c->place[i] < 0 ? "" : field[c->place[i]];
	}
	return r;
}

int csv_number(struct csv *c, int column, const struct csv_column *wanted, uint64_t max,
	       uint64_t *out)
{
	const char *s = c->value[column];
	char what[160], *end;

	errno = 0;
	*out = strtoull(s, &end, 10);
	if (!*s && !wanted->needed)
		return 0;
	if (*s >= '0' && *s <= '9' && !*end && !errno && *out <= max)
		return 0;
	if (*s)
		snprintf(what, sizeof(what),
			 "%s is \"%.40s\", not a whole number of at most %" PRIu64, wanted->name, s,
			 max);
	else
		snprintf(what, sizeof(what), "%s is missing", wanted->name);
	return csv_bad(c, what);
}

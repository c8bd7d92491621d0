// SPDX-License-Identifier: Apache-2.0
/*
 * csv.h - reads comma separated values with a header, line by line: columns may have any order, and
 * unknown columns are skipped. A byte order mark (UTF-8) before the header is skipped; a wanted
 * column that is named twice is refused. Errors name the file and the line.
 */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

enum { CSV_COLUMNS = 16, CSV_LINE = 4096, CSV_WHY = 512 };

struct csv_column {
	const char *name;
	bool needed;
};

struct csv {
	FILE *file;
	const char *path;
	unsigned long line;
	int place[CSV_COLUMNS]; /* index of each wanted column in the file; -1: absent */
	const char *value[CSV_COLUMNS]; /* of the current line; "": absent */
	char text[CSV_LINE];
	char *why; /* buffer of CSV_WHY bytes */
};

int csv_open(struct csv *c, const char *path, const struct csv_column *wanted, size_t n,
	     char *why) MUST_CHECK;
int csv_next(struct csv *c, size_t n) MUST_CHECK; /* 1: a line; 0: the end; < 0 */
void csv_close(struct csv *c);

/* A whole number of the current line, at most max. "" is 0, but refused if the column is needed. */
int csv_number(struct csv *c, int column, const struct csv_column *wanted, uint64_t max,
	       uint64_t *out) MUST_CHECK;
int csv_bad(struct csv *c, const char *what); /* -EINVAL, with file and line */

// SPDX-License-Identifier: Apache-2.0
/*
 * proc_text.h - parses the files of /proc into lines, words and numbers. The content is not
 * trusted.
 *
 * A file is read up to a bound, and only whole lines count: a truncated number would be a wrong
 * number. Words end at a blank, ':' or '='. A word that is not a number, or is missing, is NaN.
 */
#pragma once

#include "lib/base/buf.h"

struct words {
	const char *p, *end;
};

/* The index for the number of the line that begins with key. */
struct proc_key {
	const char *key;
	uint16_t index;
};

int proc_read(struct buf *text, const char *root, const char *name, struct words *file) MUST_CHECK;
/* For a file that the kernel returns in one piece, like those of cgroups. */
int proc_read_at(struct buf *text, int dir, const char *name, struct words *file) MUST_CHECK;
bool proc_line(struct words *file, struct words *line);
bool proc_word(struct words *line, struct words *word);
double proc_number(struct words *line); /* the next word */
bool proc_is(const struct words *word, const char *text);
int proc_find(const struct proc_key *keys, size_t n, const struct words *word); /* index, or -1 */
void proc_keyed(struct words file, const struct proc_key *keys, size_t n, double unit, double *raw);
void proc_pressure(struct words file, int some, int full, double *raw); /* seconds */

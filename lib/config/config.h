// SPDX-License-Identifier: Apache-2.0
/*
 * collector_config.h - the options of a program: one table for its file, its flags and its
 * documentation.
 *
 * Each option is a field of the caller's struct. A refused value leaves its field unchanged. Errors
 * are sentences for the operator, with FILE:LINE.
 */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

enum config_type { CONFIG_STR, CONFIG_INT, CONFIG_REAL, CONFIG_BOOL, CONFIG_CHOICE };

struct config_option {
	const char *section, *key;
	enum config_type type; /* char[size], int64_t, double, bool, char[size] */
	size_t offset, size; /* of the field */
	double min, max; /* of a number, if they differ; a text with min 1 may not be empty */
	const char *choices; /* of a CONFIG_CHOICE: "auto|on|off" */
	const char *unit; /* of a number: "MiB" */
	const char *initial; /* the default as a file spells it; NULL: an empty text */
	const char *none; /* how an empty default is printed; NULL: "none" */
	const char *arg; /* placeholder of the value: "FILE"; NULL: by type */
	const char *example; /* value in the sample file if the default is empty */
	bool in_sample; /* the sample file sets the example */
	const char *help; /* one line: the thing it sets, without unit and default */
	const char *more; /* paragraph for the manual; NULL: none */
};

#define CONFIG_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

/* For a file with sections of any name. A callback that returns < 0, with a sentence in err, ends
 * the reading. */
struct config_visit {
	int (*section)(void *arg, int line, const char *name, char *err, size_t errlen);
	int (*pair)(void *arg, const char *key, const char *value, char *err, size_t errlen);
	void *arg;
};

/* path is used in errors only; f stays open. */
int config_read_file(FILE *f, const char *path, const struct config_visit *v, char *err,
		     size_t errlen) MUST_CHECK;

/* Sets every option to its default; asserts that the table allows it. */
void config_defaults(const struct config_option *table, size_t n, void *into);

/* The choices as a phrase: "auto, on or off". */
void config_choices(const struct config_option *o, char *text, size_t size);

/* 0, -EINVAL, or the -errno of open; stops at the first error. */
int config_load(const struct config_option *table, size_t n, void *into, const char *path,
		char *err, size_t errlen) MUST_CHECK;
int config_set(const struct config_option *table, size_t n, void *into, const char *section,
	       const char *key, const char *value, char *err, size_t errlen) MUST_CHECK;

/* Writes a sentence to err; returns -EINVAL. */
int config_refuse(char *err, size_t errlen, const char *fmt, ...) PRINTF(3, 4);

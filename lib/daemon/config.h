// SPDX-License-Identifier: Apache-2.0
/*
 * config.h - what a program can be told: one table says it all, for the file, flags and help.
 *
 * Each option is a field of the caller's struct, which holds the defaults before. A value that is
 * refused leaves its field as it was. Errors are sentences for the operator, with FILE:LINE.
 */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

enum config_type { CONFIG_STR, CONFIG_INT, CONFIG_REAL, CONFIG_BOOL };

struct config_option {
	const char *section, *key;
	enum config_type type; /* char[size], int64_t, double, bool */
	size_t offset, size; /* of the field */
	double min, max; /* of a number, if they differ; a text of min 1 may not be empty */
	const char *help;
};

#define CONFIG_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)

/* A file whose sections are not known before: what is refused (< 0, a sentence in err) ends it. */
struct config_visit {
	int (*section)(void *arg, int line, const char *name, char *err, size_t errlen);
	int (*pair)(void *arg, const char *key, const char *value, char *err, size_t errlen);
	void *arg;
};

/* path is for the sentence; f stays the caller's. */
int config_read_file(FILE *f, const char *path, const struct config_visit *v, char *err,
		     size_t errlen) MUST_CHECK;

/* 0, -EINVAL or -errno of opening; stops at the first mistake. */
int config_load(const struct config_option *table, size_t n, void *into, const char *path,
		char *err, size_t errlen) MUST_CHECK;
int config_set(const struct config_option *table, size_t n, void *into, const char *section,
	       const char *key, const char *value, char *err, size_t errlen) MUST_CHECK;

/* A sentence into err; -EINVAL. */
int config_refuse(char *err, size_t errlen, const char *fmt, ...) PRINTF(3, 4);

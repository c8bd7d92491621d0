// SPDX-License-Identifier: Apache-2.0
/*
 * custom_manifest.h - the manifest NAME.conf of a custom kernel program: which of its maps are
 * reported, and as what. docs/custom-programs.md is the reference for authors.
 *
 * Plain data. The fields that depend on the types of the object (BTF) are filled in by
 * custom_types.
 */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

enum {
	CUSTOM_NAME = 64, /* a map or a struct member, with the terminating 0 */
	CUSTOM_METRIC_NAME = 96,
	CUSTOM_HELP = 128,
	CUSTOM_MAPS = 8,
	CUSTOM_METRICS = 32, /* sections; a histogram has several values */
	CUSTOM_LABELS = 4,
	CUSTOM_ENTITIES = 512, /* limit of reported keys of a map */
	CUSTOM_SLOTS = 64,
	CUSTOM_KEY_BYTES = 256,
	CUSTOM_VALUE_BYTES = 65536,
};

enum custom_kind { CUSTOM_COUNTER, CUSTOM_GAUGE, CUSTOM_HISTOGRAM };

struct custom_field { /* position in a key or value */
	uint32_t offset, size; /* of one number: 1, 2, 4 or 8; of a text: its length */
	uint32_t n; /* count of adjacent numbers; 0: a text */
	bool is_signed;
};

struct custom_label {
	char name[CUSTOM_NAME]; /* "": the plain key, without a label name */
	struct custom_field at;
};

struct custom_metric {
	char name[CUSTOM_METRIC_NAME];
	uint32_t map; /* index of the map */
	char field[CUSTOM_NAME]; /* "": the value is the number */
	char unit[32];
	enum custom_kind kind;
	double scale; /* the reported value is the number times this */
	uint32_t first; /* histogram: log2 of the upper edge of the first slot */
	int line; /* of its section */
	struct custom_field at;
};

struct custom_map {
	char name[CUSTOM_NAME];
	int64_t entities; /* limit of reported keys */
	uint32_t nlabels;
	struct custom_label label[CUSTOM_LABELS];
	int line;
};

struct custom_manifest {
	char help[CUSTOM_HELP];
	int64_t period_ms;
	uint32_t nmaps, nmetrics;
	struct custom_map map[CUSTOM_MAPS];
	struct custom_metric metric[CUSTOM_METRICS];
};

/* -EINVAL with FILE:LINE and what is allowed; path names the file in the sentence. */
int custom_manifest_read(FILE *f, const char *path, struct custom_manifest *m, char *err,
			 size_t errlen) MUST_CHECK;

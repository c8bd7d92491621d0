// SPDX-License-Identifier: Apache-2.0
/*
 * custom_manifest.h - what a NAME.conf says of a kernel program of the operator's own: which of its
 * maps are told, and as what. docs/custom-programs.md is the reference for who writes one.
 *
 * Plain data. What the object's own types (BTF) say of it is filled in by own_types.
 */
#pragma once

#include <stdio.h>

#include "lib/base/base.h"

enum {
	OWN_NAME = 64, /* of a map or of a member of a struct, with its end */
	OWN_METRIC_NAME = 96,
	OWN_HELP = 128,
	OWN_MAPS = 8,
	OWN_METRICS = 32, /* sections; a histogram is several values */
	OWN_LABELS = 4,
	OWN_ENTITIES = 512, /* keys of a map that are told, at most */
	OWN_SLOTS = 64,
	OWN_KEY_BYTES = 256,
	OWN_VALUE_BYTES = 65536,
};

enum own_kind { OWN_COUNTER, OWN_GAUGE, OWN_HISTOGRAM };

struct own_field { /* where in a key or in a value */
	uint32_t offset, size; /* of one number: 1, 2, 4 or 8; of a text: its room */
	uint32_t n; /* numbers behind each other; 0: it is a text */
	bool is_signed;
};

struct own_label {
	char name[OWN_NAME]; /* "": the key as it is, without a name */
	struct own_field at;
};

struct own_metric {
	char name[OWN_METRIC_NAME];
	uint32_t map; /* its number */
	char field[OWN_NAME]; /* "": the value is the number itself */
	char unit[32];
	enum own_kind kind;
	double scale; /* what is told is the number times this */
	uint32_t first; /* of a histogram: log2 of the upper edge of its first slot */
	int line; /* of its section */
	struct own_field at;
};

struct own_map {
	char name[OWN_NAME];
	int64_t entities; /* keys that are told */
	uint32_t nlabels;
	struct own_label label[OWN_LABELS];
	int line;
};

struct custom_manifest {
	char help[OWN_HELP];
	int64_t period_ms;
	uint32_t nmaps, nmetrics;
	struct own_map map[OWN_MAPS];
	struct own_metric metric[OWN_METRICS];
};

/* -EINVAL with FILE:LINE and what is allowed; path is for that sentence. */
int custom_manifest_read(FILE *f, const char *path, struct custom_manifest *m, char *err,
		      size_t errlen) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * kmsg_line.h - parses a record of /dev/kmsg and matches it with schema/def/kmsg.def. No system
 * calls.
 *
 * Lines written by users always have facility 1: only lines of the kernel itself, facility 0, are
 * matched.
 */
#pragma once

#include "lib/wire/item.h"

enum { KMSG_RECORD = 8192, KMSG_LEVELS = 8, KMSG_WORD = 64, KMSG_WORDS = 4 };

struct kmsg_line {
	uint32_t level, facility; /* level: 0 emergency to 7 debug */
	uint64_t seq; /* consecutive */
	uint64_t us; /* since boot, by the kernel's log clock */
	char text[1024]; /* truncated; cleaned by text_clean_into */
};

/* -EBADMSG: not a record. */
int kmsg_line_parse(const char *record, size_t len, struct kmsg_line *out) MUST_CHECK;

struct kmsg_pattern {
	uint16_t reason;
	uint8_t severity; /* enum event_severity */
	const char *text;
};

struct kmsg_found {
	const struct kmsg_pattern *pattern;
	uint32_t n;
	struct {
		char name[12], value[KMSG_WORD];
	} word[KMSG_WORDS];
};

/* False: no pattern matches, or the line is not from the kernel. */
bool kmsg_line_match(const struct kmsg_line *l, struct kmsg_found *out);
/* "": there is no word of that name. */
const char *kmsg_found_word(const struct kmsg_found *f, const char *name);
/* The subject of the line: its device, else its first word, else "". */
const char *kmsg_found_about(const struct kmsg_found *f);

// SPDX-License-Identifier: Apache-2.0
/*
 * kmsg_line.h - one record of /dev/kmsg, and whether it is one of schema/def/kmsg.def. No system calls.
 *
 * What users write there has the facility 1, whatever they ask for: only the kernel's own, of
 * facility 0, is ever matched.
 */
#pragma once

#include "lib/wire/item.h"

enum { KMSG_RECORD = 8192, KMSG_LEVELS = 8, KMSG_WORD = 64, KMSG_WORDS = 4 };

struct kmsg_line {
	uint32_t level, facility; /* level: 0 emergency to 7 debug */
	uint64_t seq; /* each record has the next number */
	uint64_t us; /* since the start of the kernel, by its own clock */
	char text[1024]; /* cut; clean, as text_clean_into makes it */
};

/* -EBADMSG: that is no record. */
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

/* False: none; so it is of every line that is not the kernel's. */
bool kmsg_line_match(const struct kmsg_line *l, struct kmsg_found *out);
/* "": it has none of that name. */
const char *kmsg_found_word(const struct kmsg_found *f, const char *name);
/* What the line is about: its device, else its first word, else "". */
const char *kmsg_found_about(const struct kmsg_found *f);

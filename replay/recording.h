// SPDX-License-Identifier: Apache-2.0
/*
 * recording.h - recorded requests, calls and events, in memory and in order.
 *
 * replay/README.md describes the files. Errors in a file are reported with file and line.
 */
#pragma once

#include "replay/csv.h"

enum record_kind { RECORD_REQUEST, RECORD_CALL, RECORD_EVENT };

enum { NOBODY = UINT32_MAX };

struct record {
	uint64_t start_ns, end_ns; /* wall, as recorded */
	uint64_t up_us; /* of a request: time in its calls */
	uint32_t window, host, other; /* indices of names; other: the caller or the callee */
	uint32_t what; /* operation, or kind of event; of a call: operation of its request */
	uint32_t longest; /* of a request: callee of its longest call; NOBODY: not known */
	uint16_t status;
	uint8_t kind, severity;
};

struct recording {
	struct record *record; /* sorted by window and end */
	size_t n, room;
	char **name;
	uint32_t nnames;
	uint32_t *place; /* hash table of names */
	size_t places;
	size_t joined, routed; /* calls joined to one request; calls that only got a route */
};

struct recording_files {
	const char *requests, *calls, *events; /* NULL: none */
};

int recording_read(struct recording *r, const struct recording_files *f, char *why) MUST_CHECK;
void recording_free(struct recording *r);

// SPDX-License-Identifier: Apache-2.0
/*
 * recording.h - requests, calls and events as they were recorded, in memory and in order.
 *
 * The form of the files is in replay/README.md. What is wrong with one is told with file and line.
 */
#pragma once

#include "replay/csv.h"

enum record_kind { RECORD_REQUEST, RECORD_CALL, RECORD_EVENT };

enum { NOBODY = UINT32_MAX };

struct record {
	uint64_t start_ns, end_ns; /* wall, as recorded */
	uint64_t up_us; /* of a request: in its calls */
	uint32_t window, host, other; /* other: who asked, or was asked; of names */
	uint32_t what; /* operation, or kind of event; of a call, whose request's */
	uint32_t longest; /* of a request: whom its longest call asked, if it is known; or NOBODY */
	uint16_t status;
	uint8_t kind, severity;
};

struct recording {
	struct record *record; /* by window and end */
	size_t n, room;
	char **name;
	uint32_t nnames;
	uint32_t *place; /* of names by hash */
	size_t places;
};

struct recording_files {
	const char *requests, *calls, *events; /* NULL: none */
};

int recording_read(struct recording *r, const struct recording_files *f, char *why) MUST_CHECK;
void recording_free(struct recording *r);

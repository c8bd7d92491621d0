// SPDX-License-Identifier: Apache-2.0
/*
 * request_event.h - converts a kernel record to an item: parses the request line, turns monotonic
 * times into durations, leaves out calls that were not HTTP. Pure.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/wire/item.h"
#include "probe/request/record/http.h"

enum { UNIX_TEXT = 5 + REQ_UNIX_PATH + 1 }; /* "unix:", a path, its end */

struct request_text { /* storage for the item's strings */
	char comm[REQ_COMM + 1];
	char method[HTTP_METHOD + 1];
	char path[ITEM_MAX_PATH + 1];
	char route[ITEM_MAX_NAME];
	char up_path[REQ_CALLS][UNIX_TEXT];
	struct http_names names;
};

struct request_context {
	int64_t wall_minus_mono_ns;
	uint64_t jiffy_ns; /* 0: not measured yet, queue times are then 0 */
	bool query_string; /* include it in the path */
	/* path of an AF_UNIX address, "unix:..."; returns text. NULL: no names for such addresses
	 */
	const char *(*unix_name)(void *arg, const struct req_addr *a, char text[static UNIX_TEXT]);
	void *arg;
};

/* len: of the record. -EBADMSG: cut short, or not HTTP/1. The caller sets app. */
int request_event_read(const struct req_event *e, size_t len, const struct request_context *x,
		       struct request_text *text, struct request_item *out) MUST_CHECK;

/* Reads the ids in the headers, if they are in the record. Only needed for reported requests. */
void request_names_read(const struct req_event *e, struct request_text *text,
			struct request_item *out);

/*
 * The peer by another protocol than HTTP that was used for it: sets addr or path, and how long its
 * thread waited for it; the rest is zero. False: none.
 */
bool request_peer_read(const struct req_event *e, size_t len, const struct request_context *x,
		       char path[static UNIX_TEXT], struct up_item *out);

/* A call without a request: sets addr, duration and status; the rest of *out is zero. */
void request_call_read(const struct req_call *c, uint64_t read_ns, uint64_t end_ns,
		       const struct request_context *x, char path[static UNIX_TEXT],
		       struct up_item *out);

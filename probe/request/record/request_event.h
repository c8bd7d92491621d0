// SPDX-License-Identifier: Apache-2.0
/*
 * request_event.h - a record of the kernel's ring as an item: the request line read, monotonic
 * times turned into durations, calls that were not HTTP left out. Pure.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/wire/item.h"
#include "probe/request/record/http.h"

enum { UNIX_TEXT = 5 + REQ_UNIX_PATH + 1 }; /* "unix:", a path, its end */

struct request_text { /* room for what the item's strings point to */
	char comm[REQ_COMM + 1];
	char method[8];
	char path[ITEM_MAX_PATH + 1];
	char route[ITEM_MAX_NAME];
	char up_path[REQ_CALLS][UNIX_TEXT];
	struct http_names names;
};

struct request_context {
	int64_t wall_minus_mono_ns;
	uint64_t jiffy_ns; /* 0: not measured yet, queue times are then 0 */
	bool query_string; /* keep it in the path */
	/* the path of an AF_UNIX address, "unix:..."; returns text. NULL: such have no name */
	const char *(*unix_name)(void *arg, const struct req_addr *a, char text[static UNIX_TEXT]);
	void *arg;
};

/* len: of the record. -EBADMSG: cut short, or its line is not HTTP/1. app is left to the caller. */
int request_event_read(const struct req_event *e, size_t len, const struct request_context *x,
		       struct request_text *text, struct request_item *out) MUST_CHECK;

/* By which ids it goes, as far as its headers are in the record. For those that are told: nobody
 * else wants to know. */
void request_names_read(const struct req_event *e, struct request_text *text,
			struct request_item *out);

/* Whom it waited for that is no HTTP call: its addr, and for how long, the rest zero. False: for
 * nobody. */
bool request_peer_read(const struct req_event *e, size_t len, struct up_item *out);

/* A call of its own: its addr, duration and status; the rest of *out is zero. */
void request_call_read(const struct req_call *c, uint64_t read_ns, uint64_t end_ns,
		       const struct request_context *x, char path[static UNIX_TEXT],
		       struct up_item *out);

// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_record.h - merges an nginx record into the item of the socket record, or makes a record
 * from it alone. Pure.
 *
 * Socket times are finer, nginx's match its log: a socket time within the same millisecond is used,
 * otherwise nginx's.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/nginx_uprobe.h"
#include "probe/request/record/request_event.h"

struct nginx_text { /* storage for the item's strings */
	char peer[NGINX_TRIES][UNIX_TEXT];
};

bool nginx_event_complete(const struct nginx_event *w,
			  size_t len); /* complete: as long as it claims */

/* The first lines of both records agree. */
bool nginx_same_line(const struct nginx_event *w, const struct req_event *e);

/* A time in memory of nginx, which may hold anything; 0: no time of this century. */
int64_t nginx_ns(uint64_t sec, uint64_t msec);

uint16_t nginx_status(const struct nginx_event *w); /* as in its log, 499 included */

/* Parses "10.0.0.1:80" as an address, else stores the text (a path, an upstream name). False: a
 * separator. */
bool nginx_peer(const struct nginx_try *t, char text[static UNIX_TEXT], struct up_item *out);

/*
 * Sets r->ups to all tries of nginx, plus calls seen by the sockets that are not among them and
 * began before nginx freed the request, which was read at read_ns. Returns a bit mask over r->ups
 * of tries that the sockets could not assign to this request.
 */
uint32_t nginx_apply(const struct nginx_event *w, uint64_t read_ns, struct nginx_text *text,
		     struct request_item *r);

/* Makes a record for a request without a socket record. Returns its length. */
size_t nginx_make_request(const struct nginx_event *w, int64_t wall_minus_mono_ns,
			  struct req_event *out);

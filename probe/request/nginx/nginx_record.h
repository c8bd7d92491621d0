// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_record.h - what a record of nginx says: put into the item that the sockets' record became, or
 * made a record of its own. Pure.
 *
 * The sockets' times are finer, nginx's are what its log has: a time of theirs that lies within the
 * same millisecond stays, any other gives way.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/nginx.h"
#include "probe/request/record/request_event.h"

struct nginx_text { /* room for what the item's strings point to */
	char peer[NGINX_TRIES][UNIX_TEXT];
};

bool nginx_word_whole(const struct nginx_event *w, size_t len); /* as long as it says it is */

/* Both are of one request, as far as their first lines tell. */
bool nginx_same_line(const struct nginx_event *w, const struct req_event *e);

uint16_t nginx_status(const struct nginx_event *w); /* as its log has it; 499 among them */

/* "10.0.0.1:80" as an address, else (a path, the name of an upstream) as text. False: a mark. */
bool nginx_peer(const struct nginx_try *t, char text[static UNIX_TEXT], struct up_item *out);

/*
 * All tries that nginx made, and of the calls that the sockets saw those that were none of them and
 * began before nginx let go of the request, which was read at read_ns.
 * Returns, as bits, the places in r->ups of tries that the sockets did not see to be this
 * request's.
 */
uint32_t nginx_apply(const struct nginx_event *w, uint64_t read_ns, struct nginx_text *text,
		     struct request_item *r);

/* A request of which the sockets have no record of its own. Returns its length. */
size_t nginx_alone(const struct nginx_event *w, int64_t wall_minus_mono_ns, struct req_event *out);

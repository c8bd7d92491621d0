// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_join.h - which record of nginx and which record of the sockets are of one request.
 *
 * By process and client address, and by time: a connection serves its requests one after the other,
 * so nginx's word comes after its request has been read and before the next one is. Records come in
 * the order of the ring, in which nginx's word is the first of the two, but for an answer that the
 * sweep found whole before nginx let go of it. More than one word for one record: they were
 * pipelined, and each word is a request. A word without a record, of a connection that the sockets
 * could not read, is one as well, a while later. Pure, but for the memory that it keeps.
 */
#pragma once

#include "probe/request/nginx/nginx_record.h"

#define NGINX_WAIT_NS (1000 * 1000000ull) /* a record of the sockets, for nginx's word */
#define NGINX_ALONE_NS (2000 * 1000000ull) /* nginx's word, for a record of the sockets */

struct nginx_join;

/*
 * A request is known as well as it will be. Either may be NULL: nginx said nothing, or the sockets
 * have no record of their own. Called from the functions below.
 */
typedef void nginx_join_done(void *arg, const struct req_event *e, size_t len,
			     const struct nginx_event *word);

struct nginx_join *nginx_join_new(nginx_join_done *done, void *arg);
void nginx_join_free(struct nginx_join *j); /* NULL is fine; forgets what waits */

void nginx_join_word(struct nginx_join *j, const struct nginx_event *w, int64_t wall_minus_mono_ns,
		     uint64_t now_ns);
void nginx_join_request(struct nginx_join *j, const struct req_event *e, size_t len,
			uint64_t now_ns);
void nginx_join_tick(struct nginx_join *j, uint64_t now_ns);

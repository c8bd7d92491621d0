// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_join.h - joins the nginx record and the socket record of one request.
 *
 * Records match by process, client address and time: a connection serves one request after another,
 * so the nginx record comes after its request was read and before the next one is. In the ring the
 * nginx record comes first, except for an answer that the sweep found complete before nginx freed
 * the request. Several nginx records for one socket record are a pipeline, and each is a request.
 * An nginx record without a socket record, of a connection that the sockets could not read, becomes
 * a request of its own after a while. So does a socket record without an nginx record; if the other
 * record comes later, it is dropped. Pure, except for its memory.
 */

#include "probe/request/nginx/nginx_record.h"

#define NGINX_WAIT_NS (1000 * 1000000ull) /* how long a socket record waits for nginx */
#define NGINX_ALONE_NS (2000 * 1000000ull) /* how long an nginx record waits for the sockets */

struct nginx_join;

/*
 * Reports a joined request. Either may be NULL: there is no nginx record, or no separate socket
 * record. Called from the functions below.
 */
typedef void nginx_join_done(void *arg, const struct req_event *e, size_t len,
			     const struct nginx_event *event);

struct nginx_join *nginx_join_new(nginx_join_done *done, void *arg);
void nginx_join_free(struct nginx_join *j); /* NULL is fine; drops waiting records */

void nginx_join_event(struct nginx_join *j, const struct nginx_event *w, int64_t wall_minus_mono_ns,
		      uint64_t now_ns);
void nginx_join_request(struct nginx_join *j, const struct req_event *e, size_t len,
			uint64_t now_ns);
/* A socket record that the caller has reported: an nginx record of its request is dropped. */
void nginx_join_reported(struct nginx_join *j, const struct req_event *e, size_t len,
			 uint64_t now_ns);
void nginx_join_tick(struct nginx_join *j, uint64_t now_ns);

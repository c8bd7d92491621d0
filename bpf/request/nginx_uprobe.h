/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nginx_uprobe.h - what bpf/request/nginx_uprobe.bpf.c and probe/nginx*.c agree on: what nginx
 * itself says of a request that it has done with. The records travel in the ring of request.h,
 * beside those of the sockets.
 */
#pragma once

#include "bpf/request/request.h"

enum {
	NGINX_BINARIES = 16, /* watched at a time; each has its own layout */
	NGINX_REQUEST = 1536, /* bytes of ngx_http_request_t that are looked at */
	NGINX_CONNECTION = 80, /* of ngx_connection_t, see nginx_connection */
	NGINX_TRIES = REQ_CALLS,
	NGINX_STATE = 128, /* ngx_http_upstream_state_t is at most so long (72 in 1.22) */
	NGINX_STATE_MIN = 40, /* status, three times, peer */
	NGINX_PEER = 5 + REQ_UNIX_PATH + 7,
};

enum nginx_mode {
	NGINX_OFF,
	NGINX_LOOKS, /* send the struct as it is, to find out where in it is what */
	NGINX_READS,
};

/* The beginning of ngx_connection_t, which is the same in every version. */
struct nginx_connection {
	__u64 data, read, write; /* data: the request */
	__s32 fd;
	__u32 unused;
	__u64 functions[5]; /* recv, send, both for chains; and where it listens */
	__s64 sent; /* bytes of the answer */
};

/* Of one binary; offsets are in its ngx_http_request_t. */
struct nginx_layout {
	__u32 mode; /* enum nginx_mode */
	__s32 looks; /* still to be sent */
	__u32 token; /* of this entry's present binary: comes back in its records */
	__u16 states; /* upstream_states; the pool follows */
	__u16 status; /* headers_out.status */
	__u16 start; /* start_sec, start_msec, method, http_version, request_line */
	__u16 unused;
	__u32 scope_level; /* as in req_control */
	__u64 scope_id;
	__u64 probe_at; /* address of the probed instruction, as the file has it */
	__u64 clock_at; /* of ngx_cached_time; 0: not exported */
	__u64 lost; /* records that found no room in the ring, or could not be read */
};

struct nginx_head {
	__u32 kind; /* enum req_kind */
	__u16 binary; /* entry of the layout */
	__u16 line_len;
	__u32 token;
	__u32 tgid, tid;
	char comm[REQ_COMM];
	struct req_addr remote, local;
	__u32 ntries; /* in this record */
	__u64 now_ns; /* the request is freed */
	__s64 rc; /* what it is freed with: its status, where it has none or nothing was sent */
	__s64 sent; /* bytes of the answer */
};

/* ngx_http_upstream_state_t; times are milliseconds, ~0: it did not come to that */
struct nginx_try {
	__u64 status, response_ms, connect_ms, header_ms;
	__u64 peer_len; /* of the whole name; 0: a mark between two groups of tries, not one */
	char peer[NGINX_PEER];
};

struct nginx_event {
	struct nginx_head head;
	__u64 status; /* of the answer; 0: none was begun */
	__u64 start_sec, start_msec, end_sec, end_msec; /* by nginx's clock; end 0: not known */
	__u64 nstates; /* tries that there were; the last of those in the record is the last */
	char line[REQ_LINE];
	struct nginx_try tries[NGINX_TRIES]; /* there are head.ntries */
};

struct nginx_look {
	struct nginx_head head;
	__u64 at; /* address of the request */
	__u64 request[NGINX_REQUEST / 8];
	struct nginx_connection connection;
};

_Static_assert(sizeof(struct nginx_try) == 40 + NGINX_PEER, "nginx_try");
_Static_assert(sizeof(struct nginx_head) == 104, "nginx_head");
_Static_assert(sizeof(struct nginx_connection) == NGINX_CONNECTION, "nginx_connection");
_Static_assert(sizeof(struct nginx_layout) == 56, "nginx_layout");

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nginx_uprobe.h - the records shared by bpf/request/nginx_uprobe.bpf.c and probe/request/nginx/:
 * nginx's own view of a finished request. They travel in the ring of request.h, beside those of the
 * sockets.
 */
#pragma once

#include "bpf/request/request.h"

enum {
	NGINX_BINARIES = 16, /* traced at a time; each has its own layout */
	NGINX_REQUEST = 1536, /* bytes of ngx_http_request_t that are read */
	NGINX_CONNECTION = 80, /* of ngx_connection_t, see nginx_connection */
	NGINX_TRIES = REQ_CALLS,
	NGINX_STATE = 128, /* longest ngx_http_upstream_state_t (72 in 1.22) */
	NGINX_STATE_MIN = 40, /* status, three times, peer */
	NGINX_PEER = 5 + REQ_UNIX_PATH + 7,
};

enum nginx_mode {
	NGINX_OFF,
	NGINX_LOOKS, /* send the struct unparsed, for user space to find the offsets */
	NGINX_READS,
};

/* The beginning of ngx_connection_t, which is the same in every version. */
struct nginx_connection {
	__u64 data, read, write; /* data: the request */
	__s32 fd;
	__u32 unused;
	__u64 functions[5]; /* recv, send and their chain variants; then the listening socket */
	__s64 sent; /* bytes of the answer */
};

/* Layout of one binary; offsets are in its ngx_http_request_t. */
struct nginx_layout {
	__u32 mode; /* enum nginx_mode */
	__s32 looks; /* unparsed structs still to be sent */
	__u32 token; /* of this entry's present binary; copied into its records */
	__u16 states; /* upstream_states; the pool follows */
	__u16 status; /* headers_out.status */
	__u16 start; /* start_sec, start_msec, method, http_version, request_line */
	__u16 unused;
	__u32 scope_level; /* as in req_control */
	__u64 scope_id;
	__u64 probe_at; /* address of the probed instruction in the ELF file */
	__u64 clock_at; /* of ngx_cached_time; 0: not exported */
	__u64 lost; /* records dropped: ring full, or memory not readable */
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
	__u64 now_ns; /* when the request is freed */
	__s64 rc; /* argument rc: its status, if it has none or nothing was sent */
	__s64 sent; /* bytes of the answer */
};

/* ngx_http_upstream_state_t; times are milliseconds, ~0: not reached */
struct nginx_try {
	__u64 status, response_ms, connect_ms, header_ms;
	__u64 peer_len; /* of the whole name; 0: not a try but a mark between two groups of tries */
	char peer[NGINX_PEER];
};

struct nginx_event {
	struct nginx_head head;
	__u64 status; /* of the answer; 0: no answer began */
	__u64 start_sec, start_msec, end_sec, end_msec; /* by nginx's clock; end 0: not known */
	__u64 nstates; /* all tries; the last one in the record is the last of all */
	char line[REQ_LINE];
	struct nginx_try tries[NGINX_TRIES]; /* head.ntries of them */
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

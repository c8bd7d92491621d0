// SPDX-License-Identifier: Apache-2.0
/*
 * nginx.h - requests of nginx as nginx itself counts them: every try at an upstream, also of
 * requests that a timer starts; each request of a pipeline. Beside the sockets, which stay the
 * source of everything else, and alone where nginx's structs are not what they should be.
 *
 * A program that exports ngx_http_free_request gets a probe there. Its first requests show where in
 * the struct is what; the next ones, compared with what the sockets saw, whether that is right.
 */
#pragma once

#include "probe/request/nginx/nginx_join.h"
#include "probe/cgroup/scope.h"

struct nginx;

struct nginx_options {
	const char *mode; /* "auto", "on", "off" */
	int ring_fd; /* where the records go */
	struct scope scope;
	const char *procfs;
	const struct request_context *context;
	nginx_join_done *done; /* for each request that nginx_takes took */
	void *arg;
};

struct nginx_counts {
	uint64_t lost; /* records of nginx */
	uint64_t unread; /* requests of an nginx that could not be read */
};

/* NULL: it is off, or this kernel has nothing for it. All others take that. */
struct nginx *nginx_open(const struct nginx_options *o);
void nginx_close(struct nginx *n);

void nginx_record(struct nginx *n, const void *record, size_t len, uint64_t now_ns);
/* True: it comes back by done, now or within a second. */
bool nginx_takes(struct nginx *n, const struct req_event *e, size_t len, uint64_t now_ns);
/* What this process serves is told by nginx, also where its bytes cannot be read. */
bool nginx_reads(struct nginx *n, uint32_t tgid, uint64_t now_ns);
void nginx_saw_call(struct nginx *n, const struct req_call_event *c); /* that is nobody's */
void nginx_tick(struct nginx *n, uint64_t now_ns);
struct nginx_counts nginx_counts(struct nginx *n);

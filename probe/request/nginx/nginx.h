// SPDX-License-Identifier: Apache-2.0
/*
 * nginx.h - requests as nginx itself counts them: every upstream try, also of requests started by a
 * timer, and each request of a pipeline. Everything else comes from the sockets, which are the only
 * source if the structs of this nginx cannot be read.
 *
 * A uprobe is attached to programs that export ngx_http_free_request. Their first requests reveal
 * the offsets in the struct; the next ones verify them against what the sockets saw.
 */
#pragma once

#include "probe/request/nginx/nginx_join.h"
#include "probe/cgroup/scope.h"

struct nginx;

struct nginx_options {
	const char *mode; /* "auto", "on", "off" */
	int ring_fd; /* ring for the records */
	struct scope scope;
	const char *procfs;
	const struct request_context *context;
	nginx_join_done *done; /* called for each request that nginx_accept accepted */
	void *arg;
};

struct nginx_counts {
	uint64_t lost; /* lost records of nginx */
	uint64_t unread; /* requests of an nginx whose structs cannot be read */
};

/* NULL: off, or not supported by this kernel; the functions below accept NULL. */
struct nginx *nginx_open(const struct nginx_options *o);
void nginx_close(struct nginx *n);

void nginx_record(struct nginx *n, const void *record, size_t len, uint64_t now_ns);
/* True: accepted; passed to done now or within a second. */
bool nginx_accept(struct nginx *n, const struct req_event *e, size_t len, uint64_t now_ns);
/* True: nginx reports the requests of this process, even if its bytes cannot be read. */
bool nginx_reports(struct nginx *n, uint32_t tgid, uint64_t now_ns);
void nginx_orphan_call(struct nginx *n,
		       const struct req_call_event *c); /* a call without a request */
void nginx_tick(struct nginx *n, uint64_t now_ns);
struct nginx_counts nginx_counts(struct nginx *n);

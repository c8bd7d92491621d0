// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_verify.h - verifies offsets before they are used: values read with them must match what the
 * sockets saw of the same requests. First the fields of a request are verified, then, once
 * upstreams are called, its tries.
 */
#pragma once

#include "probe/request/nginx/nginx_record.h"

struct nginx_verify;

struct nginx_verify *nginx_verify_new(void);
void nginx_verify_free(struct nginx_verify *t); /* NULL is fine */

void nginx_verify_event(struct nginx_verify *t,
			const struct nginx_event *w); /* stored for a while */
void nginx_verify_request(struct nginx_verify *t, const struct req_event *e,
			  const struct request_context *x);
/* A call that the sockets could not assign to a request is evidence too. */
void nginx_verify_call(struct nginx_verify *t, const struct req_call_event *c,
		       const struct request_context *x);

enum nginx_finding { NGINX_OPEN, NGINX_RIGHT, NGINX_WRONG };

enum nginx_finding nginx_verify_requests(const struct nginx_verify *t);
enum nginx_finding nginx_verify_tries(const struct nginx_verify *t);

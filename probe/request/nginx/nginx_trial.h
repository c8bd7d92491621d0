// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_trial.h - offsets that were found are tried before they are believed: what is read by them
 * must be what the sockets saw of the same requests. The first part is about a request itself, the
 * second, which comes when upstreams are called, about its tries. Nothing is used meanwhile.
 */
#pragma once

#include "probe/request/nginx/nginx_told.h"

struct nginx_trial;

struct nginx_trial *nginx_trial_new(void);
void nginx_trial_free(struct nginx_trial *t); /* NULL is fine */

void nginx_trial_word(struct nginx_trial *t, const struct nginx_event *w); /* kept for a while */
void nginx_trial_request(struct nginx_trial *t, const struct req_event *e,
			 const struct request_context *x);
/* A call that the sockets could give to no request: that it was made says something too. */
void nginx_trial_call(struct nginx_trial *t, const struct req_call_event *c,
		      const struct request_context *x);

enum nginx_finding { NGINX_OPEN, NGINX_RIGHT, NGINX_WRONG };

enum nginx_finding nginx_trial_requests(const struct nginx_trial *t);
enum nginx_finding nginx_trial_tries(const struct nginx_trial *t);

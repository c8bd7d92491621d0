// SPDX-License-Identifier: Apache-2.0
/*
 * web_guard.h - checks made before routing: Host header, method, body, origin.
 *
 * Every change is a POST of JSON. A page of another site cannot send one without a CORS
 * preflight, which is never granted; in addition Origin and Sec-Fetch-Site are checked.
 */
#pragma once

#include "collector/web/call/web_call.h"
#include "collector/web/web_http.h"

/* True: refused, and the response is written. For a command cmd->verb is set and its body
 * follows. */
bool web_guard_refuses(const struct web_http *h, struct MHD_Connection *conn, const char *method,
		       const char *url, size_t uri_len, struct incident_command *cmd,
		       struct web_call *call);

bool web_host_ok(const struct web_http *h, const char *host);
/* Whether the request comes from a page of this console, if the browser sends its origin. host: the
 * Host header, which the origin must equal if the console listens on a Unix socket. */
bool web_origin_ok(const struct web_http *h, const char *origin, const char *site,
		   const char *host);
/* /api/v1/incidents/ID/VERB */
bool web_command_read(const char *url, struct incident_command *cmd);

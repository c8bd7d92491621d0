// SPDX-License-Identifier: Apache-2.0
/*
 * web_guard.h - what is refused before any route is looked at: other names, methods, bodies, sites.
 *
 * Whatever changes something is a POST of JSON. A page of another site cannot send that without
 * being asked for it first, which nobody here allows; and browsers say where they come from.
 */
#pragma once

#include "collector/web/call/web_call.h"
#include "collector/web/web_http.h"

/* True: the answer is made. cmd->verb is set where it is a command, and its body comes next. */
bool web_guard_refuses(const struct web_http *h, struct MHD_Connection *conn, const char *method,
		       const char *url, size_t uri_len, struct incident_command *cmd,
		       struct web_call *call);

bool web_host_ok(const struct web_http *h, const char *host);
/* Of a browser that says so, the page that asks is one of ours. */
bool web_origin_ok(const struct web_http *h, const char *origin, const char *site);
/* /api/v1/incidents/ID/VERB */
bool web_command_read(const char *url, struct incident_command *cmd);

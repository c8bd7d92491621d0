// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_guard.h"

#include <stdio.h>
#include <strings.h>

enum { URI_MAX = 4096 };

static bool is_loopback_name(const char *name, size_t len, const char *listened)
{
	const char *const names[] = { "127.0.0.1", "localhost", "[::1]", listened };

	if (!len)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && strncasecmp(name, names[i], len) == 0)
			return true;
	return false;
}

/* A Unix socket, which a tunnel may offer at any port. */
static bool is_local(const struct web_http *h)
{
	return !*h->own.host;
}

/* Another site can let its own name resolve to this host, but it cannot make a browser send our
 * name. */
bool web_host_ok(const struct web_http *h, const char *host)
{
	const char *end = host ? strchr(host, ']') : NULL;
	const char *colon = host ? strchr(end ? end : host, ':') : NULL;
	char port[8];

	if (!host)
		return false;
	snprintf(port, sizeof(port), "%u", h->own.port);
	if (!is_local(h) && !colon && h->own.port != 80)
		return false;
	if (!is_local(h) && colon && strcmp(colon + 1, port) != 0)
		return false;
	return is_loopback_name(host, colon ? (size_t)(colon - host) : strlen(host), h->own.host);
}

bool web_origin_ok(const struct web_http *h, const char *origin, const char *site, const char *host)
{
	static const char scheme[] = "http://";

	if (site && strcmp(site, "same-origin") != 0)
		return false;
	if (!origin)
		return true;
	if (strncmp(origin, scheme, strlen(scheme)) != 0)
		return false;
	origin += strlen(scheme);
	return web_host_ok(h, origin) && (!is_local(h) || (host && strcasecmp(origin, host) == 0));
}

bool web_command_read(const char *url, struct incident_command *cmd)
{
	static const char path[] = "/api/v1/incidents/";
	static const char *const verbs[] = { "acknowledge", "comment", "close", "merge", "split" };
	static const struct web_param id = { "id", WEB_ID, NULL, true };
	char text[sizeof(cmd->id)], value[WEB_VALUE], why[WEB_WHY];
	const char *rest = url + strlen(path), *slash;

	if (strncmp(url, path, strlen(path)) != 0)
		return false;
	slash = strchr(rest, '/');
	if (!slash || (size_t)(slash - rest) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(slash - rest), rest);
	if (web_param_read(&id, text, strlen(text), value, why) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(slash + 1, verbs[i]) == 0)
			cmd->verb = verbs[i];
	snprintf(cmd->id, sizeof(cmd->id), "%.*s", (int)sizeof(cmd->id) - 1, value);
	return cmd->verb != NULL;
}

static const char *request_header(struct MHD_Connection *conn, const char *name)
{
	return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

static bool has_body(struct MHD_Connection *conn)
{
	const char *len = request_header(conn, "Content-Length");

	return (len && strcmp(len, "0") != 0) || request_header(conn, "Transfer-Encoding");
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && strncasecmp(type, json, strlen(json)) == 0 &&
	       (!type[strlen(json)] || strchr("; ", type[strlen(json)]));
}

/* For a command, which has a body. */
static bool refuses_command(const struct web_http *h, struct MHD_Connection *conn,
			    struct web_call *call)
{
	const char *len = request_header(conn, "Content-Length");

	if (h->read_only)
		web_call_fail(call, 403, "read_only",
			      "This console is read-only (web_actions = off); use "
			      "seismo-collector incident on the collector's machine.");
	else if (!web_origin_ok(h, request_header(conn, "Origin"),
				request_header(conn, "Sec-Fetch-Site"),
				request_header(conn, "Host")))
		web_call_fail(call, 403, "origin",
			      "Changes are accepted only from this console's own pages.");
	else if (!is_json(request_header(conn, "Content-Type")))
		web_call_fail(call, 415, "type", "The body must be application/json.");
	else if (len && strtoull(len, NULL, 10) > INCIDENT_COMMAND_BODY)
		web_call_fail(call, 413, "body", "The body is longer than %d bytes.",
			      INCIDENT_COMMAND_BODY);
	else
		return false;
	return true;
}

static void refuse_host(const struct web_http *h, struct web_call *call)
{
	if (is_local(h))
		web_call_fail(call, 421, "wrong_host",
			      "This console answers only under a loopback name: open "
			      "http://localhost/ through its socket.");
	else
		web_call_fail(call, 421, "wrong_host",
			      "This console answers only under its loopback name: open "
			      "http://%s:%u/ on its machine.",
			      h->own.host, h->own.port);
}

bool web_guard_refuses(const struct web_http *h, struct MHD_Connection *conn, const char *method,
		       const char *url, size_t uri_len, struct incident_command *cmd,
		       struct web_call *call)
{
	bool post = strcmp(method, "POST") == 0 && (h->on_command || h->read_only) &&
		    web_command_read(url, cmd);

	if (!web_host_ok(h, request_header(conn, "Host")))
		refuse_host(h, call);
	else if (!post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		web_call_fail(call, 405, "method", "Only GET and HEAD are allowed here.");
	else if (!post && has_body(conn))
		web_call_fail(call, 413, "body", "A request with a body is not allowed here.");
	else if (uri_len > URI_MAX)
		web_call_fail(call, 414, "too_long", "The URL is longer than 4096 bytes.");
	else
		return post && refuses_command(h, conn, call);
	return true;
}

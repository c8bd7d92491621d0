// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_http.h"
#include "collector/web/web_routes.h"

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "collector/core/clock_check.h"
#include "collector/web/web_asset.h"
#include "collector/web/call/web_call.h"
#include "collector/web/call/web_file.h"
#include "collector/web/web_guard.h"
#include "collector/web/web_health.h"
#include "collector/web/web_metrics.h"
#include "collector/web/web_openapi.h"

enum step {
	STEP_HEAD, /* headers received, a body may follow */
	STEP_ROUTE,
	STEP_ANSWER, /* a query thread has written the answer */
	STEP_STREAM, /* a query thread has prepared a stream */
};

struct http_exchange {
	struct web_job job;
	struct web_http *http;
	struct MHD_Connection *conn;
	enum step step;
	bool head, streams;
	size_t uri_len;
	struct web_call call;
	struct web_arg args[WEB_ARGS];
	unsigned nargs;
	struct web_mark since, upto;
	uint64_t next;
	struct web_blob *backlog;
	struct incident_command cmd; /* verb NULL: not a command */
	struct web_seat *seat;
};

static const struct {
	const char *name, *value;
} always[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	  "require-trusted-types-for 'script'; trusted-types 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

static const char json[] = "application/json; charset=utf-8";

void web_http_on_connection(void *arg, struct MHD_Connection *conn, void **context,
			    enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct web_http *h = arg;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*context = web_seats_open(h->seats, i->connect_fd, clock_mono_ns());
	else if (*context)
		web_seats_leave(h->seats, *context);
}

static struct web_seat *seat_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return i ? i->socket_context : NULL;
}

static enum web_refusal use_seat(struct http_exchange *x, enum web_use use)
{
	return web_seats_use(x->http->seats, x->seat, use, clock_mono_ns());
}

/* Whether the limits let it be used so; if not, the answer is written. */
static bool may_use_seat(struct http_exchange *x, enum web_use use)
{
	enum web_refusal why = use_seat(x, use);

	if (!why)
		return true;
	web_call_fail(&x->call, web_refusal_status(why), "busy", "%s", web_refusal_text(why));
	return false;
}

void *web_http_on_uri(void *arg, const char *uri, struct MHD_Connection *conn)
{
	struct web_http *h = arg;
	struct http_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		die("out of memory");
	x->http = h;
	x->conn = conn;
	x->seat = seat_of(conn);
	x->uri_len = strlen(uri);
	x->call.keep_days = h->keep_days;
	atomic_fetch_add(&h->requests, 1);
	return x;
}

void web_http_on_done(void *arg, struct MHD_Connection *conn, void **context,
		      enum MHD_RequestTerminationCode code)
{
	struct http_exchange *x = *context;

	(void)arg, (void)conn, (void)code;
	if (!x)
		return;
	use_seat(x, WEB_USE_WAITING);
	web_call_free(&x->call);
	buf_free(&x->cmd.body);
	buf_free(&x->cmd.answer);
	free(x);
	*context = NULL;
}

static bool is_file(const struct http_exchange *x)
{
	return x->call.route && x->call.route->form != WEB_JSON && x->call.status == 200;
}

static enum MHD_Result name_file(struct http_exchange *x, struct MHD_Response *r)
{
	char name[WEB_FILE_NAME];

	web_file_name(x->call.route->form, name);
	if (x->call.cut && MHD_add_response_header(r, "Seismo-Cut", "10000") == MHD_NO)
		return MHD_NO;
	return MHD_add_response_header(r, "Content-Disposition", name);
}

static enum MHD_Result send_response(struct http_exchange *x, unsigned status, const char *type,
				     const char *cache, struct MHD_Response *r)
{
	enum MHD_Result ok = MHD_YES;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		ok &= MHD_add_response_header(r, always[i].name, always[i].value);
	ok &= MHD_add_response_header(r, "Content-Type", type);
	ok &= MHD_add_response_header(r, "Cache-Control", cache);
	if (status == 503 || status == 429)
		ok &= MHD_add_response_header(r, "Retry-After", "2");
	if (status == 405)
		ok &= MHD_add_response_header(r, "Allow", "GET, HEAD");
	if (is_file(x))
		ok &= name_file(x, r);
	if (web_seats_is_held_back(x->http->seats, x->seat))
		ok &= MHD_add_response_header(r, "Connection", "close");
	if (!x->streams)
		use_seat(x, WEB_USE_SENDING);
	if (status >= 500)
		atomic_fetch_add(&x->http->unavailable, 1);
	if (ok)
		ok = MHD_queue_response(x->conn, status, r);
	MHD_destroy_response(r);
	return ok;
}

static enum MHD_Result send_body(struct http_exchange *x, unsigned status, const char *type,
				 struct buf *b)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(b->len, b->data, MHD_RESPMEM_MUST_FREE);

	if (r)
		*b = (struct buf){ 0 }; /* the response frees it */
	return send_response(x, status, type, "no-store", r);
}

static enum MHD_Result send_call(struct http_exchange *x)
{
	return send_body(x, x->call.status, is_file(x) ? web_file_type(x->call.route->form) : json,
			 &x->call.body);
}

static void on_query(struct web_job *job, struct web_db *db)
{
	struct http_exchange *x = CONTAINER_OF(job, struct http_exchange, job);

	web_call_run(&x->call, db);
	x->step = STEP_ANSWER;
	MHD_resume_connection(x->conn);
}

static void on_backlog(struct web_job *job, struct web_db *db)
{
	struct http_exchange *x = CONTAINER_OF(job, struct http_exchange, job);

	if (web_live_backlog(db, x->since, x->upto, &x->backlog) < 0)
		x->backlog = NULL;
	x->step = STEP_STREAM;
	MHD_resume_connection(x->conn);
}

/* Suspends first: the pool may be done with x before this returns. */
static enum MHD_Result hand_over(struct http_exchange *x,
				 void (*run)(struct web_job *job, struct web_db *db))
{
	if (run == on_query && !may_use_seat(x, WEB_USE_QUERY))
		return send_call(x);
	x->job.run = run;
	MHD_suspend_connection(x->conn);
	if (web_pool_put(x->http->pool, &x->job) < 0) {
		web_call_fail(
			&x->call, 503, "busy",
			"Too many queries are waiting for the database; try again in a moment.");
		x->step = STEP_ANSWER;
		MHD_resume_connection(x->conn);
	}
	return MHD_YES;
}

static enum MHD_Result collect_arg(void *arg, enum MHD_ValueKind kind, const char *name,
				   size_t name_len, const char *text, size_t len)
{
	struct http_exchange *x = arg;

	(void)kind;
	if (x->nargs == WEB_ARGS || strlen(name) != name_len)
		return MHD_NO;
	x->args[x->nargs++] = (struct web_arg){ .name = name, .text = text, .len = len };
	return MHD_YES;
}

static enum MHD_Result start_query(struct http_exchange *x, const char *rest)
{
	int n = MHD_get_connection_values_n(x->conn, MHD_GET_ARGUMENT_KIND, collect_arg, x);

	if (n != (int)x->nargs) {
		web_call_fail(&x->call, 400, "bad_parameter",
			      "Too many parameters, or a parameter name with a NUL byte.");
		return send_call(x);
	}
	if (web_call_read(&x->call, rest, x->args, x->nargs) < 0)
		return send_call(x);
	return hand_over(x, on_query);
}

/* An EventSource gives up after an error, but reconnects with its last id after a normal end. */
static enum MHD_Result send_retry(struct http_exchange *x)
{
	static char later[] = "retry: 1000\n\n: the database is away; reconnect\n\n";

	return send_response(
		x, 200, "text/event-stream", "no-store",
		MHD_create_response_from_buffer(strlen(later), later, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result start_stream(struct http_exchange *x)
{
	struct MHD_Response *r;

	if (x->head)
		return send_retry(x);
	x->streams = true;
	r = web_hub_join(x->http->hub, x->conn, x->next, TAKE(x->backlog));
	if (!r) {
		x->streams = false;
		web_call_fail(&x->call, 503, "busy", "%s", web_refusal_text(WEB_ALL_STREAMS));
		return send_call(x);
	}
	web_live_notify(x->http->live); /* sends the first status at once */
	return send_response(x, 200, "text/event-stream", "no-store", r);
}

static enum MHD_Result open_stream(struct http_exchange *x)
{
	const char *id = MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, "Last-Event-ID");
	int r;

	if (!id)
		id = MHD_lookup_connection_value(x->conn, MHD_GET_ARGUMENT_KIND, "lastEventId");
	if (id && web_mark_read(id, &x->since) < 0) {
		web_call_fail(&x->call, 400, "bad_parameter",
			      "Last-Event-ID must be an event id of this stream.");
		return send_call(x);
	}
	if (!x->head && !may_use_seat(x, WEB_USE_STREAM))
		return send_call(x);
	r = web_hub_find(x->http->hub, id ? &x->since : NULL, &x->next, &x->upto);
	if (r == -ENODATA)
		return hand_over(x, on_backlog);
	return r < 0 ? send_retry(x) : start_stream(x);
}

static enum MHD_Result send_metrics(struct http_exchange *x)
{
	struct buf b = { 0 };

	web_metrics_text(x->http, &b);
	return send_body(x, 200, "text/plain; version=0.0.4; charset=utf-8", &b);
}

static enum MHD_Result send_health(struct http_exchange *x)
{
	char why[160];
	bool well = web_live_is_healthy(x->http->live, why);
	struct buf b = { 0 };

	web_health_text(&b, x->http->version, well ? "ok" : why);
	return send_body(x, well ? 200 : 503, json, &b);
}

static enum MHD_Result send_console(struct http_exchange *x)
{
	struct buf b = { 0 };

	web_put(&b, "{\"version\":");
	json_clean_text(&b, x->http->version);
	web_put(&b, ",\"actions\":%s",
		x->http->on_command && !x->http->read_only ? "true" : "false");
	clock_put_hold(&b);
	web_put(&b, "}\n");
	return send_body(x, 200, json, &b);
}

static enum MHD_Result send_description(struct http_exchange *x, const char *url)
{
	struct buf b = { 0 };

	if (strcmp(url, "/api/v1/") == 0)
		web_openapi_index(&b);
	else
		web_openapi_text(&b, x->http->version);
	return send_body(x, 200, json, &b);
}

static const char *header_of(struct http_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, name);
}

/* A page with status 404 is HTML or JSON, as Accept asks (wants_page). */
static enum MHD_Result add_asset_headers(struct MHD_Response *r, const struct web_asset *a,
					 unsigned status, bool packed)
{
	char etag[64];
	enum MHD_Result ok = MHD_YES;

	snprintf(etag, sizeof(etag), "%s%s", packed ? "W/" : "", a->etag);
	if (status == 200)
		ok &= MHD_add_response_header(r, "ETag", etag);
	else
		ok &= MHD_add_response_header(r, "Vary", "Accept");
	if (a->packed_len)
		ok &= MHD_add_response_header(r, "Vary", "Accept-Encoding");
	if (packed)
		ok &= MHD_add_response_header(r, "Content-Encoding", "gzip");
	return ok;
}

static enum MHD_Result send_asset(struct http_exchange *x, const struct web_asset *a,
				  unsigned status)
{
	bool packed = a->packed_len && web_asset_may_pack(header_of(x, "Accept-Encoding"));
	const char *seen = header_of(x, "If-None-Match");
	bool same = status == 200 && seen && strstr(seen, a->etag);
	union {
		const void *in;
		void *out;
	} data = { .in = packed ? a->packed : a->data }; /* libmicrohttpd does not write to it */
	struct MHD_Response *r = MHD_create_response_from_buffer(same	  ? 0
								 : packed ? a->packed_len
									  : a->len,
								 data.out, MHD_RESPMEM_PERSISTENT);

	if (r && add_asset_headers(r, a, status, packed) == MHD_NO) {
		MHD_destroy_response(r);
		return MHD_NO;
	}
	return send_response(
		x, same ? 304 : status, a->type,
		web_asset_is_page(a) ? "no-cache" : "public, max-age=31536000, immutable", r);
}

/* A person who follows a link to a page that is not there gets the console, which says so. */
static bool wants_page(struct http_exchange *x, const char *url)
{
	const char *accept = header_of(x, "Accept");

	return accept && strstr(accept, "text/html") && strncmp(url, "/api/", 5) != 0 &&
	       strncmp(url, "/assets/", 8) != 0;
}

static enum MHD_Result route_request(struct http_exchange *x, const char *url)
{
	const struct web_asset *a = web_asset_find(url);
	const char *rest;

	x->call.route = web_route_find(url, &rest);
	if (x->call.route)
		return start_query(x, rest);
	if (strcmp(url, "/api/v1/stream") == 0)
		return open_stream(x);
	if (strcmp(url, "/api/v1/console") == 0)
		return send_console(x);
	if (strcmp(url, "/api/v1/openapi.json") == 0 || strcmp(url, "/api/v1/") == 0)
		return send_description(x, url);
	if (strcmp(url, "/metrics") == 0)
		return send_metrics(x);
	if (strcmp(url, "/healthz") == 0)
		return send_health(x);
	if (a)
		return send_asset(x, a, 200);
	if (wants_page(x, url))
		return send_asset(x, web_asset_find("/"), 404);
	web_call_fail(&x->call, 404, "not_found", "This URL does not exist.");
	return send_call(x);
}

static const char *error_code(unsigned status)
{
	switch (status) {
	case 404:
		return "not_found";
	case 409:
		return "conflict";
	case 503:
		return "database_away";
	default:
		return "bad_parameter";
	}
}

/* Runs in the thread that executed the command. */
static void on_command_done(struct incident_command *c)
{
	struct http_exchange *x = CONTAINER_OF(c, struct http_exchange, cmd);

	x->call.status = c->status;
	if (c->status == 200)
		buf_put(&x->call.body, c->answer.data, c->answer.len);
	else
		web_call_fail(&x->call, c->status, error_code(c->status), "%.*s",
			      c->answer.len ? (int)c->answer.len : 40,
			      c->answer.len ? (const char *)c->answer.data
					    : "The database is away; try again later.");
	x->step = STEP_ANSWER;
	MHD_resume_connection(x->conn);
}

static enum MHD_Result run_command(struct http_exchange *x)
{
	struct web_http *h = x->http;

	if (!may_use_seat(x, WEB_USE_QUERY))
		return send_call(x);
	buf_put(&x->cmd.body, "", 1);
	x->cmd.done = on_command_done;
	MHD_suspend_connection(x->conn);
	if (h->on_command(h->commands, &x->cmd) < 0) {
		web_call_fail(&x->call, 503, "busy",
			      "Too many commands are waiting; try again in a moment.");
		x->step = STEP_ANSWER;
		MHD_resume_connection(x->conn);
	}
	return MHD_YES;
}

/* The body arrives in pieces; size 0 marks its end. */
static enum MHD_Result on_body(struct http_exchange *x, const char *upload, size_t *size)
{
	struct buf *b = &x->cmd.body;

	if (!*size && b->len <= INCIDENT_COMMAND_BODY)
		return run_command(x);
	if (!*size) {
		web_call_fail(&x->call, 413, "body", "The body is longer than %d bytes.",
			      INCIDENT_COMMAND_BODY);
		return send_call(x);
	}
	if (b->len <= INCIDENT_COMMAND_BODY)
		buf_put(b, upload, *size);
	*size = 0;
	return MHD_YES;
}

enum MHD_Result web_http_on_request(void *arg, struct MHD_Connection *conn, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **context)
{
	struct http_exchange *x = *context;

	(void)version;
	switch (x->step) {
	case STEP_HEAD:
		x->step = STEP_ROUTE;
		use_seat(x, WEB_USE_WAITING);
		x->head = strcmp(method, "HEAD") == 0;
		return web_guard_refuses(arg, conn, method, url, x->uri_len, &x->cmd, &x->call)
			       ? send_call(x)
			       : MHD_YES;
	case STEP_ROUTE:
		return x->cmd.verb ? on_body(x, upload, upload_size) : route_request(x, url);
	case STEP_ANSWER:
		return send_call(x);
	case STEP_STREAM:
		return x->backlog ? start_stream(x) : send_retry(x);
	}
	return MHD_NO;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/web/call/web_call.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/json.h"
#include "collector/web/call/web_file.h"

enum { EXTRA_MS = 1000, FILE_MS = 15000 };
enum { HOUR = 3600, DAY = 86400, AHEAD = 300 };

void web_put(struct buf *b, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < sizeof(text));
	buf_put(b, text, (size_t)n);
}

void web_call_fail(struct web_call *c, unsigned status, const char *code, const char *fmt, ...)
{
	char message[WEB_SENTENCE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	c->status = status;
	buf_reset(&c->body);
	web_put(&c->body, "{\"error\":{\"code\":\"%s\",\"message\":", code);
	/* A name from a URL, or a message cut inside a character. */
	json_clean_text(&c->body, message);
	web_put(&c->body, "}}");
}

static int refuse_parameter(struct web_call *c, const char *why)
{
	web_call_fail(c, 400, "bad_parameter", "%s", why);
	return -EINVAL;
}

/* The index where parameter i is bound: a repeatable parameter takes two. */
static unsigned bound_index(const struct web_route *r, unsigned i)
{
	unsigned at = i;

	while (i--)
		at += web_param_is_many(r->params[i].type);
	assert(at + 1 < WEB_BOUND);
	return at;
}

static int read_value(struct web_call *c, unsigned i, const struct web_arg *arg)
{
	const struct web_param *p = &c->route->params[i];
	const char *text = arg->text ? arg->text : "";
	unsigned at = bound_index(c->route, i);
	char why[WEB_WHY];

	if (web_param_is_many(p->type))
		return web_filter_add(&c->filters[i], p, text, arg->len, why) < 0
			       ? refuse_parameter(c, why)
			       : 0;
	snprintf(why, sizeof(why), "%s is given twice; use it once.", p->name);
	if (c->bound[at] || web_param_read(p, text, arg->len, c->values[i], why) < 0)
		return refuse_parameter(c, why);
	c->bound[at] = c->values[i];
	return 0;
}

static int read_arg(struct web_call *c, const struct web_arg *arg)
{
	const struct web_route *r = c->route;
	char why[WEB_WHY];
	size_t n = 0;

	for (unsigned i = r->one != NULL; i < r->nparams; i++)
		if (strcmp(arg->name, r->params[i].name) == 0)
			return read_value(c, i, arg);
	for (unsigned i = r->one != NULL; i < r->nparams; i++)
		n += (size_t)snprintf(why + n, sizeof(why) - n, " %s", r->params[i].name);
	web_call_fail(c, 400, "bad_parameter", "Unknown parameter %.40s; allowed here:%s.",
		      arg->name, n ? why : " none");
	return -EINVAL;
}

/* Enforces the route's limit on the number of steps. */
static int check_step(struct web_call *c, int64_t seconds)
{
	const struct web_route *r = c->route;
	char why[WEB_WHY];

	for (unsigned i = 0; i < r->nparams; i++) {
		const char *step = c->bound[bound_index(r, i)];

		if (r->params[i].type != WEB_SECONDS || !step || seconds / atoi(step) <= r->steps)
			continue;
		snprintf(why, sizeof(why), "step must be longer: from..to has more than %d steps.",
			 r->steps);
		return refuse_parameter(c, why);
	}
	return 0;
}

/* Defaults. to: now plus AHEAD, since a node's clock may be ahead; from: an hour before to,
 * rounded down to whole_s. */
static int read_range(struct web_call *c)
{
	int64_t from, to = time(NULL) + AHEAD;
	int whole = c->route->whole_s ? c->route->whole_s : 1, r = 0;

	if (c->bound[1])
		r = web_time_parse(c->bound[1], &to);
	if (!c->bound[0]) {
		from = (c->bound[1] ? to : to - AHEAD) - HOUR;
		web_time_text(from - from % whole, c->values[0]);
	}
	if (!c->bound[1])
		web_time_text(to, c->values[1]);
	c->bound[0] = c->values[0];
	c->bound[1] = c->values[1];
	r |= web_time_parse(c->bound[0], &from);
	assert(r == 0); /* web_param made both texts */
	if (strcmp(c->bound[0], c->bound[1]) >= 0)
		return refuse_parameter(c, "from must be before to.");
	return check_step(c, to - from);
}

/* Binds the default, or null, of each parameter that was not given. */
static int bind_defaults(struct web_call *c)
{
	const struct web_route *r = c->route;

	for (unsigned i = 0; i < r->nparams; i++) {
		unsigned at = bound_index(r, i);

		if (web_param_is_many(r->params[i].type)) {
			web_filter_end(&c->filters[i]);
			c->bound[at] = web_filter_text(&c->filters[i], WEB_WANTED);
			c->bound[at + 1] = web_filter_text(&c->filters[i], WEB_UNWANTED);
		}
		if (!c->bound[at] && r->params[i].needed) {
			web_call_fail(c, 400, "bad_parameter", "%s is required.",
				      r->params[i].name);
			return -EINVAL;
		}
		if (!c->bound[at])
			c->bound[at] = r->params[i].fallback;
	}
	return 0;
}

static int read_id(struct web_call *c, const char *rest)
{
	const struct web_route *r = c->route;
	size_t len = strlen(rest) - (r->tail ? strlen(r->tail) : 0);
	char id[WEB_VALUE], why[WEB_WHY];

	snprintf(id, sizeof(id), "%.*s", (int)len, rest); /* a truncated id is invalid */
	if (web_param_read(&r->params[0], id, strlen(id), c->values[0], why) < 0)
		return refuse_parameter(c, why);
	c->bound[0] = c->values[0];
	return 0;
}

int web_call_read(struct web_call *c, const char *rest, const struct web_arg *args, unsigned nargs)
{
	const struct web_route *r = c->route;

	if (r->one && read_id(c, rest) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < nargs; i++)
		if (read_arg(c, &args[i]) < 0)
			return -EINVAL;
	if (bind_defaults(c) < 0)
		return -EINVAL;
	return r->nparams && strcmp(r->params[0].name, "from") == 0 ? read_range(c) : 0;
}

/* A file download of ten thousand rows may take longer. */
static unsigned main_ms(const struct web_route *route)
{
	return route->form == WEB_JSON ? WEB_USUAL_MS : FILE_MS;
}

static void fail_query(struct web_call *c, const struct web_db *db, int err)
{
	switch (err) {
	case -ENOTCONN:
		web_call_fail(c, 503, "database_away",
			      "The database is away (%s); new requests are kept and will appear "
			      "when it is back.",
			      db->why);
		break;
	case -ETIMEDOUT:
		web_call_fail(c, 503, "too_slow",
			      "The database took more than %d s; use a shorter time range or more "
			      "filters.",
			      main_ms(c->route) / 1000);
		break;
	case -ECANCELED:
		web_call_fail(c, 503, "stopping", "The collector is stopping.");
		break;
	case -EINVAL:
		web_call_fail(c, 400, "bad_parameter", "The database refused a value: %s", db->why);
		break;
	default:
		web_call_fail(c, 500, "query_failed", "The database refused the query: %s",
			      db->why);
		break;
	}
}

static int run_query(struct web_call *c, struct web_db *db, const char *sql, unsigned within_ms,
		     PGresult **out)
{
	const struct web_route *route = c->route;
	Oid oids[WEB_BOUND];
	struct web_query q = { .sql = sql,
			       .n = (int)bound_index(route, route->nparams),
			       .types = oids,
			       .within_ms = within_ms };

	for (unsigned i = 0; i < route->nparams; i++)
		oids[bound_index(route, i)] = oids[bound_index(route, i) + 1] =
			web_param_oid(route->params[i].type);
	return web_db_query(db, &q, c->bound, out);
}

static void put_members(struct buf *b, const PGresult *res)
{
	for (int i = 0; i < PQnfields(res); i++) {
		bool null = PQgetisnull(res, 0, i);

		web_put(b, "%s\"%s\":", b->len > 1 ? "," : "", PQfname(res, i));
		buf_put(b, null ? "null" : PQgetvalue(res, 0, i),
			null ? 4 : (size_t)PQgetlength(res, 0, i));
	}
}

/* Retention drops whole UTC days, so the time in a permalink's id shows whether its row has been
 * dropped. */
static void put_missing(struct web_call *c, const PGresult *res)
{
	int64_t day = atoll(PQgetvalue(res, 0, 1)) / DAY, today = time(NULL) / DAY;
	bool gone = !PQgetisnull(res, 0, 2) && day < atoll(PQgetvalue(res, 0, 2)) / DAY;
	char date[WEB_VALUE];

	if (c->keep_days && day < today - c->keep_days) {
		web_time_text((day + c->keep_days + 1) * DAY, date);
		web_call_fail(c, 410, "aged_out", "This %s aged out on %.10s, retention %u days.",
			      c->route->one, date, c->keep_days);
	} else if (gone) {
		web_time_text(atoll(PQgetvalue(res, 0, 2)), date);
		web_call_fail(c, 410, "aged_out",
			      "This %s aged out: data before %.10s was dropped.", c->route->one,
			      date);
	} else {
		web_call_fail(c, 404, "not_found", "There is no %s %s.", c->route->one,
			      c->bound[0]);
	}
}

static void put_one(struct web_call *c, const PGresult *res)
{
	if (PQgetisnull(res, 0, 0)) {
		put_missing(c, res);
		return;
	}
	c->status = 200;
	buf_put(&c->body, PQgetvalue(res, 0, 0), (size_t)PQgetlength(res, 0, 0));
}

static void put_answer(struct web_call *c, const PGresult *res, const PGresult *extra)
{
	web_put(&c->body, "{");
	put_members(&c->body, res);
	if (extra)
		put_members(&c->body, extra);
	else if (c->route->extra)
		web_put(&c->body, ",\"coverage\":null");
	web_put(&c->body, "}\n");
}

void web_call_run(struct web_call *c, struct web_db *db)
{
	const struct web_route *route = c->route;
	bool stepped = route->stepped && c->bound[bound_index(route, route->nparams - 1)];
	AUTO(PQclear) PGresult *res = NULL;
	AUTO(PQclear) PGresult *extra = NULL;
	int r;

	r = run_query(c, db, stepped ? route->stepped : route->sql, main_ms(route), &res);
	/* Extra members get one second; if they fail or take longer they are null. */
	if (r == 0 && route->extra) {
		r = run_query(c, db, route->extra, EXTRA_MS, &extra);
		r = r == -ENOTCONN || r == -ECANCELED ? r : 0;
	}
	if (r < 0) {
		fail_query(c, db, r);
		return;
	}
	if (route->one) {
		put_one(c, res);
		return;
	}
	c->status = 200;
	if (route->put)
		route->put(&c->body, res, extra);
	else if (route->form == WEB_JSON)
		put_answer(c, res, extra);
	else
		c->cut = web_file_put(&c->body, res, route->form);
}

void web_call_free(struct web_call *c)
{
	buf_free(&c->body);
	for (unsigned i = 0; i < WEB_PARAMS; i++)
		web_filter_free(&c->filters[i]);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * What a browser asks, and what it is given. The first byte chooses: a URL becomes values that
 * their SQL types take, or an error that is JSON; the id of an event comes back as it was; a host
 * is ours or not; a text in a CSV is read back as it was; a head is whole once it has an end.
 */
#include <stdio.h>

#include "collector/web/web_asset.h"
#include "collector/web/web_gate.h"
#include "collector/web/web_routes.h"
#include "collector/web/call/web_call.h"
#include "collector/web/call/web_file.h"
#include "collector/web/web_guard.h"
#include "tests/fuzz/check.h"

/* {"...","..."}: what PostgreSQL reads as an array of texts. */
static bool is_array(const char *s)
{
	char sep = '{';

	for (; *s == sep; sep = ',') {
		if (*++s != '"')
			return false;
		for (s++; *s && *s != '"'; s++)
			if (*s == '\\' && !*++s)
				return false;
		if (*s++ != '"')
			return false;
	}
	return sep == ',' && strcmp(s, "}") == 0;
}

/* {[404,404],[500,599]} */
static bool is_multirange(const char *s)
{
	int low, high, n;
	char sep = '{';

	for (; *s == sep; sep = ',', s += n)
		if (sscanf(++s, "[%3d,%3d]%n", &low, &high, &n) != 2 || s[n - 1] != ']' ||
		    low > high)
			return false;
	return sep == ',' && strcmp(s, "}") == 0;
}

static bool is_time(const char *s)
{
	int64_t wall_s;
	char pg[] = "2026-11-21T05:45:29.000000Z";

	if (strlen(s) != strlen(pg) || s[10] != ' ')
		return false;
	memcpy(pg, s, sizeof(pg));
	pg[10] = 'T';
	return web_time_parse(pg, &wall_s) == 0;
}

static bool is_bound(enum web_type type, const char *s)
{
	switch (type) {
	case WEB_TIME:
		return is_time(s);
	case WEB_TEXT:
	case WEB_ID:
		return *s && strlen(s) <= 200;
	case WEB_ORDER:
		return strcmp(s, "last") == 0 || strcmp(s, "harm") == 0 ||
		       strcmp(s, "count") == 0 || strcmp(s, "slowest") == 0;
	case WEB_SERIES:
		return strcmp(s, "series") == 0 || strcmp(s, "app") == 0;
	case WEB_COUNT:
		return atoi(s) >= 1 && atoi(s) <= 1000;
	case WEB_BINS:
		return atoi(s) >= 1 && atoi(s) <= 200;
	case WEB_SKIP:
		return atoi(s) >= 0 && atoi(s) <= 99999;
	case WEB_SECONDS:
		return atoi(s) >= 1 && atoi(s) <= 86400;
	case WEB_TEXTS:
	case WEB_ADDRS:
	case WEB_NAMES:
		return is_array(s);
	case WEB_STATUSES:
		return is_multirange(s);
	case WEB_STATUS:
		break;
	}
	return false;
}

static void check_bound(const struct web_call *c)
{
	const struct web_route *r = c->route;
	unsigned at = 0;

	for (unsigned i = 0; i < r->nparams; i++) {
		for (int k = 0; k <= web_param_is_many(r->params[i].type); k++, at++) {
			must(at < WEB_BOUND);
			if (c->bound[at])
				must(is_text(c->bound[at], strlen(c->bound[at])) &&
				     is_bound(r->params[i].type, c->bound[at]));
			else
				must(k > 0 || !r->params[i].needed);
		}
	}
}

/* "name=value&name&..." as libmicrohttpd cuts and decodes it; a value may hold a zero. */
static unsigned cut_args(char *s, struct web_arg args[WEB_ARGS])
{
	unsigned n = 0;

	while (s && n < WEB_ARGS) {
		char *next = strchr(s, '&'), *value;

		if (next)
			*next++ = 0;
		value = strchr(s, '=');
		if (value)
			*value++ = 0;
		args[n].len = value ? MHD_http_unescape(value) : 0;
		args[n].text = value;
		if (MHD_http_unescape(s) == strlen(s))
			args[n++].name = s;
		s = next;
	}
	return n;
}

static void ask(char *url)
{
	struct web_call c = { 0 };
	struct web_arg args[WEB_ARGS];
	char *query = strchr(url, '?');
	const struct web_asset *a;
	const char *rest;

	if (query)
		*query++ = 0;
	MHD_http_unescape(url);
	a = web_asset_find(url);
	must(!a || a->path);
	c.route = web_route_find(url, &rest);
	if (!c.route)
		return;
	if (web_call_read(&c, rest, args, cut_args(query, args)) == 0)
		check_bound(&c);
	else
		must(c.status == 400 && is_json(c.body.data, c.body.len));
	web_call_free(&c);
}

static void mark(const char *id)
{
	struct web_mark m;
	char text[64];
	int n;

	if (web_mark_read(id, &m) < 0)
		return;
	n = snprintf(text, sizeof(text), "%0*llx-%016llx", (int)strcspn(id, "-"),
		     (unsigned long long)m.stored_us, (unsigned long long)m.number);
	must(n < (int)sizeof(text) && strcmp(text, id) == 0);
}

static void host(const char *name)
{
	static const struct web_http h = { .own = { "127.0.0.2", 8080 } };

	if (!web_host_ok(&h, name))
		return;
	must(strlen(name) > 5 && strcmp(name + strlen(name) - 5, ":8080") == 0);
	must(strspn(name, "127.0.0.1:8080[]localhostLOCALHOST2") == strlen(name));
}

static void head(const char *text, size_t len)
{
	bool whole = memmem(text, len, "\n\n", 2) || memmem(text, len, "\r\n\r\n", 4);

	must((web_head_look(text, len) != WEB_HEAD_PART) == whole);
}

/* One cell of RFC 4180, read as a spreadsheet does; s goes behind it and what ends it. */
static void check_cell(const char **s, const char *end, const char *want, bool last)
{
	bool quoted = *s < end && **s == '"';

	*s += quoted;
	if (*want && strchr("=+-@\t\r", *want)) {
		must(*s < end && **s == '\'');
		++*s;
	}
	for (; *want; want++, ++*s) {
		must(*s < end && **s == *want && (quoted || !strchr(",\"\r\n", *want)));
		if (*want == '"')
			must(++*s < end && **s == '"');
	}
	if (quoted)
		must(*s < end && *(*s)++ == '"');
	must(end - *s >= (last ? 2 : 1) && memcmp(*s, last ? "\r\n" : ",", last ? 2 : 1) == 0);
	*s += last ? 2 : 1;
}

static void csv(char *text)
{
	char none[] = "", name[] = "a", second[] = "b";
	PGresAttDesc columns[] = { { .name = name, .typlen = -1 },
				   { .name = second, .typlen = -1 } };
	PGresult *res = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	char *other = strchr(text, '\n'), *cell[2];
	struct buf b = { 0 };
	const char *s, *end;

	if (other)
		*other++ = 0;
	cell[0] = text, cell[1] = other ? other : none;
	must(PQsetResultAttrs(res, 2, columns));
	for (int i = 0; i < 2; i++)
		must(PQsetvalue(res, 0, i, cell[i], (int)strlen(cell[i])));
	must(!web_file_put(&b, res, WEB_CSV));
	s = (const char *)b.data, end = s + b.len;
	must(b.len > 5 && memcmp(s, "a,b\r\n", 5) == 0);
	s += 5;
	check_cell(&s, end, cell[0], false);
	check_cell(&s, end, cell[1], true);
	must(s == end);
	buf_free(&b);
	PQclear(res);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t which = len ? *data : 0;
	char *text;

	if (!len)
		return 0;
	text = strndup((const char *)data + 1, len - 1);
	if (which == 'm')
		mark(text);
	else if (which == 'h')
		host(text);
	else if (which == 'g')
		head((const char *)data + 1, len - 1);
	else if (which == 'c')
		csv(text);
	else
		ask(text);
	free(text);
	return 0;
}

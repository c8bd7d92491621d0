// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_openapi.h"

#include "lib/base/json.h"
#include "collector/web/call/web_call.h"
#include "collector/web/call/web_file.h"
#include "collector/web/web_routes.h"

/* "/api/v1/requests/{id}/trace" */
static void put_path(struct buf *b, const struct web_route *r)
{
	web_put(b, "\"%s%s%s\"", r->path, r->one ? "{id}" : "", r->tail ? r->tail : "");
}

static void put_value_schema(struct buf *b, const struct web_param *p)
{
	struct web_bounds n;

	if (web_param_bounds(p->type, &n)) {
		web_put(b, "{\"type\":\"integer\",\"minimum\":%d,\"maximum\":%d", n.least, n.most);
		if (p->fallback)
			web_put(b, ",\"default\":%s", p->fallback);
	} else {
		web_put(b, "{\"type\":\"string\"");
		if (p->fallback)
			web_put(b, ",\"default\":\"%s\"", p->fallback);
	}
	web_put(b, "}");
}

static void put_param(struct buf *b, const struct web_route *r, const struct web_param *p)
{
	bool in_path = r->one && p == r->params;

	web_put(b, "{\"name\":\"%s\",\"in\":\"%s\",\"required\":%s,\"description\":", p->name,
		in_path ? "path" : "query", p->needed || in_path ? "true" : "false");
	json_clean_text(b, web_param_allowed(p->type));
	web_put(b, ",\"schema\":");
	if (web_param_is_many(p->type))
		web_put(b, "{\"type\":\"array\",\"items\":");
	put_value_schema(b, p);
	web_put(b, web_param_is_many(p->type) ? "}}" : "}");
}

/* members: names with blanks between them. */
static void put_object_schema(struct buf *b, const char *members, size_t len)
{
	web_put(b, "{\"type\":\"object\",\"required\":[");
	for (size_t at = 0; at < len;) {
		size_t n = strcspn(members + at, " |");

		web_put(b, "%s\"%.*s\"", at ? "," : "", (int)n, members + at);
		at += n + 1;
	}
	web_put(b, "]}");
}

/* Members of several forms of the answer are separated by |. */
static void put_answer_schema(struct buf *b, const char *members)
{
	bool several = strchr(members, '|');
	const char *at = members;

	if (several)
		web_put(b, "{\"anyOf\":[");
	while (*at) {
		size_t n = strcspn(at, "|");

		put_object_schema(b, at, n);
		at += n;
		if (*at) {
			at++;
			web_put(b, ",");
		}
	}
	if (several)
		web_put(b, "]}");
}

static void put_responses(struct buf *b, const struct web_route *r)
{
	const char *type =
		r->form == WEB_JSON ? "application/json; charset=utf-8" : web_file_type(r->form);

	web_put(b, "\"responses\":{\"200\":{\"description\":\"the answer\",\"content\":{\"%.*s\":{",
		(int)strcspn(type, ";"), type);
	if (r->form == WEB_JSON) {
		web_put(b, "\"schema\":");
		put_answer_schema(b, r->members);
	}
	web_put(b, "}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}");
}

static void put_route(struct buf *b, const struct web_route *r)
{
	put_path(b, r);
	web_put(b, ":{\"get\":{\"parameters\":[");
	for (unsigned i = 0; i < r->nparams; i++) {
		if (i)
			web_put(b, ",");
		put_param(b, r, &r->params[i]);
	}
	web_put(b, "],");
	put_responses(b, r);
	web_put(b, "}}");
}

void web_openapi_text(struct buf *out, const char *version)
{
	const struct web_route *r;

	web_put(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Seismo\",\"version\":");
	json_clean_text(out, version);
	web_put(out, ",\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
		     "\"paths\":{");
	for (size_t i = 0; (r = web_route_at(i)); i++) {
		if (i)
			web_put(out, ",");
		put_route(out, r);
	}
	web_put(out,
		"},\"components\":{\"responses\":{\"Error\":{\"description\":\"why there is no "
		"answer\",\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
		"\"#/components/schemas/Error\"}}}}},\"schemas\":{\"Error\":{\"type\":"
		"\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":"
		"\"object\",\"required\":[\"code\",\"message\"],\"properties\":{\"code\":{"
		"\"type\":\"string\"},\"message\":{\"type\":\"string\"}}}}}}}}\n");
}

void web_openapi_index(struct buf *out)
{
	const struct web_route *r;

	web_put(out, "{\"openapi\":\"/api/v1/openapi.json\",\"paths\":[");
	for (size_t i = 0; (r = web_route_at(i)); i++) {
		if (i)
			web_put(out, ",");
		put_path(out, r);
	}
	web_put(out, "]}\n");
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/web/query/web_where.h"
#include "collector/incident/rank/rank_sums.h"

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/incident/rank/incident_calls.h"
#include "collector/incident/rank/incident_graph.h"

enum { HOST_NAME = 15, OTHER_NAME, EVENTS, NODES, USUAL_SINCE, USUAL_UNTIL };

/* clang-format off */
const char web_sql_where[] = "select " GRAPH_COLUMNS ", host_name, other_name, events, nodes, usual_since, usual_until"
			     " from api.where_sums($1, $2, $3, $4)" GRAPH_ROWS;
const char web_sql_where_calls[] = "select host, other, peer, made, expected, variance from api.where_calls($1, $2, $3, $4)";
/* clang-format on */

static void name_host(struct graph *s, const PGresult *res, int row, int node, int name)
{
	uint64_t id = strtoull(PQgetvalue(res, row, node), NULL, 10);

	if (id)
		text_clean_into(s->host[graph_host(s, id, "")].name, GRAPH_TEXT,
				PQgetvalue(res, row, name), (size_t)PQgetlength(res, row, name));
}

static void read_graph(struct graph *s, const PGresult *res)
{
	graph_read(s, res);
	for (int k = 0; k < PQntuples(res); k++) {
		uint64_t host = strtoull(PQgetvalue(res, k, 0), NULL, 10);

		name_host(s, res, k, 0, HOST_NAME);
		name_host(s, res, k, 3, OTHER_NAME);
		graph_rank_host(s, host)->events = atoi(PQgetvalue(res, k, EVENTS));
	}
}

/* The requests that failed on a host minus its failed calls. For an incident the rows provide
 * this. */
static void own_errors(struct graph *s)
{
	for (size_t k = 0; k < s->nsums; k++) {
		const struct rank_sum *sum = &s->sum[k];
		double net = rank_net(sum, true);

		if (sum->role == RANK_SERVER)
			s->rank_host[sum->host].own_errors += net;
		else if (sum->role == RANK_CALL)
			s->rank_host[sum->host].own_errors -= net;
	}
	for (size_t i = 0; i < s->nhosts; i++)
		if (s->rank_host[i].own_errors < 0)
			s->rank_host[i].own_errors = 0;
}

static void put_text(struct buf *j, const char *name, const char *text)
{
	json_raw(j, name);
	if (text && *text)
		json_text(j, text);
	else
		json_raw(j, "null");
}

/* As for an incident: own and edge are ms, or failed requests. */
static void put_candidates(const struct graph *s, const struct rank *r, bool errors, struct buf *j)
{
	double unit = errors ? 1 : 1000;

	for (int i = 0; i < r->n; i++) {
		const struct rank_candidate *c = &r->best[i];
		const struct graph_host *h = &s->host[c->host];

		json_raw(j, j->data[j->len - 1] == '[' ? "" : ",");
		put_text(j, "{\"ranking\":", errors ? "errors" : "time");
		json_member(j, ",\"place\":", i + 1);
		put_text(j, ",\"node\":", h->name);
		put_text(j, ",\"address\":", h->address);
		json_raw(j, h->node ? ",\"external\":false" : ",\"external\":true");
		json_member(j, ",\"own\":", c->own / unit);
		json_member(j, ",\"edge\":", c->edge / unit);
		json_member(j, ",\"share\":", c->share);
		json_raw(j, ",\"parts\":");
		graph_put_parts(s, c->part, c->nparts, j);
		json_raw(j, "}");
	}
}

static void put_calls_parts(const struct calls_candidate *c, struct buf *j)
{
	json_raw(j, ",\"parts\":[");
	for (int i = 0; i < c->nparts; i++) {
		const struct calls_edge *e = c->part[i];

		put_text(j, i ? ",{\"from\":" : "{\"from\":", e->from);
		put_text(j, ",\"to\":", e->to);
		json_member(j, ",\"value\":", e->expected - e->made);
		json_member(j, ",\"net\":", e->expected);
		json_raw(j, "}");
	}
	json_raw(j, "]}");
}

/* own: calls that the host did not make itself; edge: missing calls to it. */
static void put_calls(const struct calls_rank *r, struct buf *j)
{
	for (int i = 0; i < r->n; i++) {
		const struct calls_candidate *c = &r->best[i];

		json_raw(j, j->data[j->len - 1] == '[' ? "" : ",");
		json_member(j, "{\"ranking\":\"calls\",\"place\":", i + 1);
		put_text(j, ",\"node\":", c->external ? NULL : c->name);
		put_text(j, ",\"address\":", c->external ? c->name : NULL);
		json_raw(j, c->external ? ",\"external\":true" : ",\"external\":false");
		json_member(j, ",\"own\":", c->callee ? 0 : c->missing);
		json_member(j, ",\"edge\":", c->callee ? c->missing : 0);
		json_member(j, ",\"share\":", c->missing / c->expected);
		put_calls_parts(c, j);
	}
}

static void rank_calls(const PGresult *res, struct buf *j)
{
	int n = res ? PQntuples(res) : 0;
	struct calls_edge *edge = calloc((size_t)n + 1, sizeof(*edge));
	struct calls_rank r;

	if (!edge)
		die("out of memory");
	for (int i = 0; i < n; i++) {
		bool external = PQgetisnull(res, i, 1);

		edge[i] = (struct calls_edge){ PQgetvalue(res, i, 0),
					       PQgetvalue(res, i, external ? 2 : 1),
					       external,
					       strtod(PQgetvalue(res, i, 3), NULL),
					       strtod(PQgetvalue(res, i, 4), NULL),
					       strtod(PQgetvalue(res, i, 5), NULL) };
	}
	calls_rank(edge, (size_t)n, &r);
	put_calls(&r, j);
	free(edge);
}

void web_where_put(struct buf *body, const PGresult *res, const PGresult *calls)
{
	bool some = PQntuples(res) > 0;
	struct graph s = { 0 };
	struct rank time, errors;
	struct rank_input in;

	read_graph(&s, res);
	own_errors(&s);
	in = graph_input(&s);
	rank_time(&in, &time);
	rank_errors(&in, &errors);
	put_text(body, "{\"usual\":{\"from\":", some ? PQgetvalue(res, 0, USUAL_SINCE) : NULL);
	put_text(body, ",\"to\":", some ? PQgetvalue(res, 0, USUAL_UNTIL) : NULL);
	json_member(body, "},\"nodes\":", some ? strtod(PQgetvalue(res, 0, NODES), NULL) : 0);
	json_raw(body, time.clear ? ",\"clear\":true" : ",\"clear\":false");
	json_member(body, ",\"whole\":", time.whole);
	json_raw(body, ",\"candidates\":[");
	put_candidates(&s, &time, false, body);
	put_candidates(&s, &errors, true, body);
	rank_calls(calls, body);
	json_raw(body, calls ? "],\"missed\":[]" : "],\"missed\":[\"calls\"]");
	json_raw(body, ",\"graph\":");
	graph_put_parts(&s, time.graph, time.ngraph, body);
	json_raw(body, "}\n");
	graph_free(&s);
}

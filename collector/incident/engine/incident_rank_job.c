// SPDX-License-Identifier: Apache-2.0
/* incident_rank_job.c - ranks the hosts of an incident by red's counts, and stores the
 * result. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/json.h"
#include "collector/core/counters.h"
#include "collector/incident/engine/incident_engine.h"
#include "collector/incident/rank/incident_graph.h"
#include "collector/incident/model/incident_share.h"

enum {
	SETTLE_S = 20, /* counts are reported and stored up to this late */
	LONG_S = 900, /* of a long incident only the beginning is ranked */
	GAP_MOST_S = 120,
};

/* An incident being ranked. */
struct rank_job {
	struct engine *e;
	const struct incident *of;
	struct graph graph;
};

static int64_t ranked_until(const struct incident *i)
{
	int64_t longest = i->onset_us + LONG_S * INCIDENT_SEC;

	return (i->last_us < longest ? i->last_us : longest) + SETTLE_S * INCIDENT_SEC;
}

/* Fills in the names known here. */
static void name_hosts(struct rank_job *b)
{
	for (size_t i = 0; i < b->graph.nhosts; i++) {
		struct graph_host *h = &b->graph.host[i];
		const struct engine_node *n = h->node ? engine_node(b->e, h->node) : NULL;

		if (n)
			snprintf(h->name, sizeof(h->name), "%s", n->name);
	}
}

static int read_sums(struct rank_job *b, const uint64_t *node, size_t nnodes)
{
	static const char sql[] =
		"select " GRAPH_COLUMNS " from incident_sums($1::bigint[],"
		" timestamptz 'epoch' + $2::bigint * interval '1 microsecond',"
		" timestamptz 'epoch' + $3::bigint * interval '1 microsecond')" GRAPH_ROWS;
	AUTO(PQclear) PGresult *res = NULL;
	struct buf ids = { 0 };
	struct pg_args a = { 0 };
	char from[24], until[24];
	int r;

	engine_ids(&ids, node, nnodes);
	snprintf(from, sizeof(from), "%" PRId64, b->of->onset_us);
	snprintf(until, sizeof(until), "%" PRId64, ranked_until(b->of));
	pg_arg_text(&a, (const char *)ids.data);
	pg_arg_text(&a, from);
	pg_arg_text(&a, until);
	r = pg_ask(b->e->pg, sql, &a, &res);
	if (r == 0) {
		graph_read(&b->graph, res);
		name_hosts(b);
	}
	buf_free(&ids);
	return r;
}

static void put_candidates(const struct rank_job *b, const struct rank *r, int ranking,
			   struct buf *j)
{
	for (int i = 0; i < r->n; i++) {
		const struct rank_candidate *c = &r->best[i];
		const struct graph_host *h = &b->graph.host[c->host];

		json_raw(j, j->len > 1 ? ",{\"incident_id\":" : "{\"incident_id\":");
		json_uint(j, b->of->id);
		json_member(j, ",\"ranking\":", ranking);
		json_member(j, ",\"place\":", i + 1);
		json_raw(j, ",\"host_id\":");
		if (h->node)
			json_uint(j, h->node);
		else
			json_raw(j, "null");
		json_raw(j, ",\"address\":");
		json_text(j, h->address);
		json_member(j, ",\"own\":", c->own);
		json_member(j, ",\"edge\":", c->edge);
		json_member(j, ",\"share\":", c->share);
		json_raw(j, ",\"parts\":");
		graph_put_parts(&b->graph, c->part, c->nparts, j);
		json_raw(j, "}");
	}
}

static int write_candidates(struct rank_job *b, const struct rank *time, const struct rank *errors)
{
	static const char sql[] =
		"insert into incident_candidate select x.* from jsonb_populate_recordset("
		"null::incident_candidate, $1) x";
	struct pg_args a = { 0 };
	struct buf j = { 0 };
	char gone[96];
	int r;

	snprintf(gone, sizeof(gone), "delete from incident_candidate where incident_id = %" PRIu64,
		 b->of->id);
	json_raw(&j, "[");
	put_candidates(b, time, 0, &j);
	put_candidates(b, errors, 1, &j);
	json_raw(&j, "]");
	buf_put(&j, "", 1);
	pg_arg_text(&a, (const char *)j.data);
	r = pg_do(b->e->pg, gone);
	if (r == 0)
		r = pg_execute(b->e->pg, sql, &a);
	buf_free(&j);
	return r;
}

static int write_graph(struct rank_job *b, const struct rank *r)
{
	struct pg_args a = { 0 };
	struct buf j = { 0 };
	char id[24];
	int e;

	graph_put_parts(&b->graph, r->graph, r->ngraph, &j);
	buf_put(&j, "", 1);
	snprintf(id, sizeof(id), "%" PRIu64, b->of->id);
	pg_arg_text(&a, id);
	pg_arg_text(&a, (const char *)j.data);
	e = pg_execute(b->e->pg,
		       "insert into incident_graph values ($1::bigint, $2::jsonb) on conflict"
		       " (incident_id) do update set parts = excluded.parts",
		       &a);
	buf_free(&j);
	return e;
}

/* Sets what hosts share. True: several hosts have as much, so that the first one is not
 * clear. */
static bool find_shared(const struct rank_job *b, struct incident *i, const struct rank *r)
{
	const struct engine_region *region = engine_region(b->e, i->region);
	struct share_host host[RANK_SHOWN];
	struct incident_share out;

	for (int k = 0; k < r->n; k++)
		host[k] = (struct share_host){ b->graph.host[r->best[k].host].node, r->best[k].own,
					       r->best[k].edge };
	incident_share(i, host, r->n, region ? region->nodes : 0, &out);
	memcpy(i->shared, out.class, sizeof(i->shared));
	i->shared_hosts = out.hosts;
	return out.even;
}

static const char *host_name(const struct rank_job *b, int host)
{
	const struct graph_host *h = &b->graph.host[host];

	return *h->name ? h->name : h->address;
}

/* Stores the result; a change of the first host is a step. */
static int set_result(struct rank_job *b, struct incident *i, const struct rank *time,
		      const struct rank *errors)
{
	const struct signal *first = signal_headline(i);
	const struct rank *r = first && first->kind == SIGNAL_SLOW ? time : errors;
	uint64_t host = r->n ? b->graph.host[r->best[0].host].node : 0;
	struct buf detail = { 0 };
	bool clear = !find_shared(b, i, r) && r->clear;

	i->headline = first ? first->id : 0;
	i->whole_us = r->whole;
	i->dirty = true;
	if (r->n && (host != i->first_host || clear != i->clear)) {
		json_raw(&detail, "{\"first\":");
		json_text(&detail, host_name(b, r->best[0].host));
		json_member(&detail, ",\"share\":", r->best[0].share);
		json_raw(&detail, "}");
		engine_add_step(i, b->e->newest_us, "ranked", "", &detail);
		buf_free(&detail);
	}
	i->first_host = host;
	i->clear = clear;
	return write_graph(b, r);
}

static void add_own_errors(struct rank_job *b)
{
	for (size_t k = 0; k < b->of->nsignals; k++) {
		const struct signal *g = b->of->signal[k];

		if (strcmp(g->class, "error") == 0)
			graph_rank_host(&b->graph, g->node)->own_errors += (double)g->n;
	}
}

/* Events decide between two nearly equal hosts, and are listed. */
static int read_events(struct rank_job *b, const uint64_t *node, size_t nnodes)
{
	static const char sql[] =
		"select host, n from incident_events($1::bigint, $2::bigint[],"
		" timestamptz 'epoch' + $3::bigint * interval '1 microsecond',"
		" timestamptz 'epoch' + $4::bigint * interval '1 microsecond') order by host";
	AUTO(PQclear) PGresult *res = NULL;
	struct buf ids = { 0 };
	struct pg_args a = { 0 };
	char id[24], from[24], until[24];
	int r;

	engine_ids(&ids, node, nnodes);
	snprintf(id, sizeof(id), "%" PRIu64, b->of->id);
	snprintf(from, sizeof(from), "%" PRId64, b->of->onset_us);
	snprintf(until, sizeof(until), "%" PRId64, ranked_until(b->of));
	pg_arg_text(&a, id);
	pg_arg_text(&a, (const char *)ids.data);
	pg_arg_text(&a, from);
	pg_arg_text(&a, until);
	r = pg_ask(b->e->pg, sql, &a, &res);
	for (int i = 0; r == 0 && i < PQntuples(res); i++)
		graph_rank_host(&b->graph, strtoull(PQgetvalue(res, i, 0), NULL, 10))->events +=
			atoi(PQgetvalue(res, i, 1));
	buf_free(&ids);
	return r;
}

static int rank_one(struct engine *e, struct incident *i)
{
	struct rank_job b = { .e = e, .of = i };
	uint64_t node[ENGINE_NEIGHBORS], neighbors[ENGINE_NEIGHBORS];
	struct rank time, errors;
	size_t n = 0, nneighbors;
	int r;

	for (size_t k = 0; k < i->nsignals && n < ENGINE_NEIGHBORS; k++)
		node[n++] = i->signal[k]->node;
	r = engine_find_neighbors(e, node, n, i->last_us + SETTLE_S * INCIDENT_SEC, neighbors,
				  &nneighbors);
	if (r == 0)
		r = read_sums(&b, neighbors, nneighbors);
	if (r == 0)
		r = read_events(&b, neighbors, nneighbors);
	if (r == 0) {
		struct rank_input in;

		add_own_errors(&b);
		in = graph_input(&b.graph);
		rank_time(&in, &time);
		rank_errors(&in, &errors);
		r = write_candidates(&b, &time, &errors);
		if (r == 0)
			r = set_result(&b, i, &time, &errors);
		counter_add(C_INCIDENT_RANKINGS, 1);
	}
	graph_free(&b.graph);
	return r;
}

/* Counts of the last requests come a little later; a long incident is ranked less often. */
static bool is_rank_due(const struct incident *i, int64_t now_us)
{
	if (i->into || i->ranked_us >= i->last_us + SETTLE_S * INCIDENT_SEC)
		return false;
	return i->closed_us || now_us >= i->rank_us;
}

int engine_rank_incidents(struct engine *e)
{
	int r = 0;

	for (size_t k = 0; k < incident_set_count_of(e->set) && r == 0; k++) {
		struct incident *i = incident_set_at(e->set, k);
		const struct engine_region *region = engine_region(e, i->region);

		if (!region || !is_rank_due(i, region->now_us))
			continue;
		r = engine_item_begin(e);
		if (r == 0)
			r = engine_item_end(e, rank_one(e, i), "ranking of incident", i->id, "");
		i->ranked_us = region->now_us;
		i->rank_us = region->now_us + i->rank_gap_us;
		if (i->rank_gap_us < GAP_MOST_S * INCIDENT_SEC)
			i->rank_gap_us *= 2;
	}
	return r;
}

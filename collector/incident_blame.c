// SPDX-License-Identifier: Apache-2.0
/* incident_blame.c - the ranking of an incident's hosts, from what red counted, as rows. */
#include <inttypes.h>
#include <stdio.h>

#include "../lib/log.h"
#include "../lib/text.h"
#include "counters.h"
#include "incident_engine.h"
#include "incident_rank.h"
#include "incident_share.h"
#include "incident_through.h"
#include "jsonb.h"

enum {
	SETTLE_S = 20, /* so late are counts told, and stored */
	LONG_S = 900, /* of an incident that goes on its beginning is ranked */
	GAP_MOST_S = 120,
	ADDRESS = 128,
};

struct host {
	uint64_t node; /* 0: external */
	char address[ADDRESS];
};

struct scene {
	struct engine *e;
	const struct incident *of;
	struct host *host;
	struct rank_host *about;
	struct rank_sum *sum;
	size_t nhosts, nsums, hosts_cap;
};

static void *grown(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		die("out of memory");
	return p;
}

static int host_of(struct scene *s, uint64_t node, const char *address)
{
	for (size_t i = 0; i < s->nhosts; i++)
		if (s->host[i].node == node && (node || strcmp(s->host[i].address, address) == 0))
			return (int)i;
	if (s->nhosts == s->hosts_cap) {
		s->hosts_cap = s->hosts_cap ? 2 * s->hosts_cap : 64;
		s->host = grown(s->host, s->hosts_cap, sizeof(*s->host));
		s->about = grown(s->about, s->hosts_cap, sizeof(*s->about));
	}
	s->host[s->nhosts] = (struct host){ .node = node };
	s->about[s->nhosts] = (struct rank_host){ .external = !node };
	text_clean_into(s->host[s->nhosts].address, ADDRESS, address, node ? 0 : strlen(address));
	return (int)s->nhosts++;
}

/* Asked for by itself, as host_of() may move what s->about points to. */
static struct rank_host *about_node(struct scene *s, uint64_t node)
{
	int host = host_of(s, node, "");

	return &s->about[host];
}

static double number(const PGresult *res, int row, int column)
{
	return strtod(PQgetvalue(res, row, column), NULL);
}

/* By whom a host was asked is known or not; whom it asked is somebody, with a probe or without. */
static void put_sum(struct scene *s, const PGresult *res, int row)
{
	uint64_t other = strtoull(PQgetvalue(res, row, 3), NULL, 10);
	enum rank_role role = (enum rank_role)atoi(PQgetvalue(res, row, 1));
	struct rank_sum sum = {
		.role = role,
		.host = host_of(s, strtoull(PQgetvalue(res, row, 0), NULL, 10), ""),
		.other = -1,
		.n = number(res, row, 4),
		.errors = number(res, row, 5),
		.judged = number(res, row, 6),
		.excess = number(res, row, 7),
		.n_before = number(res, row, 8),
		.errors_before = number(res, row, 9),
		.judged_before = number(res, row, 10),
		.excess_before = number(res, row, 11),
		.us = number(res, row, 12),
		.us_before = number(res, row, 13),
		.noise = number(res, row, 14),
	};

	if (role == RANK_CALL || (role == RANK_SERVED && other))
		sum.other = host_of(s, other, PQgetvalue(res, row, 2));
	s->sum[s->nsums++] = sum;
}

/* Of an address that somebody here calls, and nobody is at: what passes on is known by it. */
static int external_at(const struct scene *s, const char *address)
{
	for (size_t i = 0; i < s->nhosts; i++)
		if (!s->host[i].node && rank_is_at(s->host[i].address, address))
			return (int)i;
	return -1;
}

static int64_t ranked_until(const struct incident *i)
{
	int64_t longest = i->onset_us + LONG_S * INCIDENT_SEC;

	return (i->last_us < longest ? i->last_us : longest) + SETTLE_S * INCIDENT_SEC;
}

static int read_sums(struct scene *s, const uint64_t *node, size_t nnodes)
{
	static const char sql[] =
		"select host, role, peer, other, n, errors, judged, excess, n_before, "
		"errors_before,"
		" judged_before, excess_before, us, us_before, noise from "
		"incident_sums($1::bigint[],"
		" timestamptz 'epoch' + $2::bigint * interval '1 microsecond',"
		" timestamptz 'epoch' + $3::bigint * interval '1 microsecond') where role <= 3"
		" order by host, role, peer, other, n, excess";
	AUTO(PQclear) PGresult *res = NULL;
	struct buf ids = { 0 };
	struct pg_args a = { 0 };
	char from[24], until[24];
	int r;

	engine_ids(&ids, node, nnodes);
	snprintf(from, sizeof(from), "%" PRId64, s->of->onset_us);
	snprintf(until, sizeof(until), "%" PRId64, ranked_until(s->of));
	pg_arg_text(&a, (const char *)ids.data);
	pg_arg_text(&a, from);
	pg_arg_text(&a, until);
	r = pg_ask(s->e->pg, sql, &a, &res);
	if (r == 0)
		s->sum = grown(NULL, (size_t)PQntuples(res) + 1, sizeof(*s->sum));
	for (int k = 0; r == 0 && k < PQntuples(res); k++)
		put_sum(s, res, k);
	for (size_t k = 0; k < s->nsums; k++)
		if (s->sum[k].role == RANK_SERVED && s->sum[k].other < 0)
			s->sum[k].other = external_at(s, PQgetvalue(res, (int)k, 2));
	buf_free(&ids);
	return r;
}

static void name_host(const struct scene *s, int host, struct buf *j)
{
	const struct host *h = &s->host[host];
	const struct engine_node *n = h->node ? engine_node(s->e, h->node) : NULL;

	jsonb_text(j, n ? n->name : h->address);
}

static void put_member(struct buf *j, const char *name, double v)
{
	jsonb_raw(j, name);
	jsonb_number(j, v);
}

static void put_parts(const struct scene *s, const struct rank_part *part, int n, struct buf *j)
{
	for (int i = 0; i < n; i++) {
		jsonb_raw(j, i ? ",{\"from\":" : "{\"from\":");
		name_host(s, part[i].from, j);
		jsonb_raw(j, ",\"to\":");
		if (part[i].to < 0)
			jsonb_raw(j, "null");
		else
			name_host(s, part[i].to, j);
		put_member(j, ",\"value\":", part[i].value);
		put_member(j, ",\"net\":", part[i].net);
		jsonb_raw(j, "}");
	}
}

static void put_candidates(const struct scene *s, const struct rank *r, int ranking, struct buf *j)
{
	for (int i = 0; i < r->n; i++) {
		const struct rank_candidate *c = &r->best[i];
		const struct host *h = &s->host[c->host];

		jsonb_raw(j, j->len > 1 ? ",{\"incident_id\":" : "{\"incident_id\":");
		jsonb_uint(j, s->of->id);
		put_member(j, ",\"ranking\":", ranking);
		put_member(j, ",\"place\":", i + 1);
		jsonb_raw(j, ",\"host_id\":");
		if (h->node)
			jsonb_uint(j, h->node);
		else
			jsonb_raw(j, "null");
		jsonb_raw(j, ",\"address\":");
		jsonb_text(j, h->address);
		put_member(j, ",\"own\":", c->own);
		put_member(j, ",\"edge\":", c->edge);
		put_member(j, ",\"share\":", c->share);
		jsonb_raw(j, ",\"parts\":[");
		put_parts(s, c->part, c->nparts, j);
		jsonb_raw(j, "]}");
	}
}

static int write_candidates(struct scene *s, const struct rank *time, const struct rank *errors)
{
	static const char sql[] =
		"insert into incident_candidate select x.* from jsonb_populate_recordset("
		"null::incident_candidate, $1) x";
	struct pg_args a = { 0 };
	struct buf j = { 0 };
	char gone[96];
	int r;

	snprintf(gone, sizeof(gone), "delete from incident_candidate where incident_id = %" PRIu64,
		 s->of->id);
	jsonb_raw(&j, "[");
	put_candidates(s, time, 0, &j);
	put_candidates(s, errors, 1, &j);
	jsonb_raw(&j, "]");
	buf_put(&j, "", 1);
	pg_arg_text(&a, (const char *)j.data);
	r = pg_do(s->e->pg, gone);
	if (r == 0)
		r = pg_tell(s->e->pg, sql, &a);
	buf_free(&j);
	return r;
}

static int write_graph(struct scene *s, const struct rank *r)
{
	struct pg_args a = { 0 };
	struct buf j = { 0 };
	char id[24];
	int e;

	jsonb_raw(&j, "[");
	put_parts(s, r->graph, r->ngraph, &j);
	jsonb_raw(&j, "]");
	buf_put(&j, "", 1);
	snprintf(id, sizeof(id), "%" PRIu64, s->of->id);
	pg_arg_text(&a, id);
	pg_arg_text(&a, (const char *)j.data);
	e = pg_tell(s->e->pg,
		    "insert into incident_graph values ($1::bigint, $2::jsonb) on conflict"
		    " (incident_id) do update set parts = excluded.parts",
		    &a);
	buf_free(&j);
	return e;
}

/* True: several have as much of it, so that the first one is not clear. */
static bool share(const struct scene *s, struct incident *i, const struct rank *r)
{
	const struct engine_region *region = engine_region(s->e, i->region);
	struct share_host host[RANK_SHOWN];
	struct incident_share out;

	for (int k = 0; k < r->n; k++)
		host[k] = (struct share_host){ s->host[r->best[k].host].node, r->best[k].own,
					       r->best[k].edge };
	incident_share(i, host, r->n, region ? region->nodes : 0, &out);
	memcpy(i->shared, out.class, sizeof(i->shared));
	i->shared_hosts = out.hosts;
	return out.even;
}

/* The first one changed: that is a step. */
static int conclude(struct scene *s, struct incident *i, const struct rank *time,
		    const struct rank *errors)
{
	const struct signal *first = signal_headline(i);
	const struct rank *r = first && first->kind == SIGNAL_SLOW ? time : errors;
	uint64_t host = r->n ? s->host[r->best[0].host].node : 0;
	struct buf detail = { 0 };
	bool clear = !share(s, i, r) && r->clear;

	i->headline = first ? first->id : 0;
	i->whole_us = r->whole;
	i->dirty = true;
	if (r->n && (host != i->first_host || clear != i->clear)) {
		jsonb_raw(&detail, "{\"first\":");
		name_host(s, r->best[0].host, &detail);
		put_member(&detail, ",\"share\":", r->best[0].share);
		jsonb_raw(&detail, "}");
		engine_step(s->e, i, s->e->newest_us, "ranked", "", &detail);
		buf_free(&detail);
	}
	i->first_host = host;
	i->clear = clear;
	return write_graph(s, r);
}

static void own_errors(struct scene *s)
{
	for (size_t k = 0; k < s->of->nsignals; k++) {
		const struct signal *g = s->of->signal[k];

		if (strcmp(g->class, "error") == 0)
			about_node(s, g->node)->own_errors += (double)g->n;
	}
}

/* They decide between two that are nearly equal, and are listed. */
static int read_events(struct scene *s, const uint64_t *node, size_t nnodes)
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
	snprintf(id, sizeof(id), "%" PRIu64, s->of->id);
	snprintf(from, sizeof(from), "%" PRId64, s->of->onset_us);
	snprintf(until, sizeof(until), "%" PRId64, ranked_until(s->of));
	pg_arg_text(&a, id);
	pg_arg_text(&a, (const char *)ids.data);
	pg_arg_text(&a, from);
	pg_arg_text(&a, until);
	r = pg_ask(s->e->pg, sql, &a, &res);
	for (int i = 0; r == 0 && i < PQntuples(res); i++)
		about_node(s, strtoull(PQgetvalue(res, i, 0), NULL, 10))->events +=
			atoi(PQgetvalue(res, i, 1));
	buf_free(&ids);
	return r;
}

static int rank_one(struct engine *e, struct incident *i)
{
	struct scene s = { .e = e, .of = i };
	uint64_t node[ENGINE_NEAR], near[ENGINE_NEAR];
	struct rank time, errors;
	size_t n = 0, nnear;
	int r;

	for (size_t k = 0; k < i->nsignals && n < ENGINE_NEAR; k++)
		node[n++] = i->signal[k]->node;
	r = engine_near(e, node, n, i->last_us + SETTLE_S * INCIDENT_SEC, near, &nnear);
	if (r == 0)
		r = read_sums(&s, near, nnear);
	if (r == 0)
		r = read_events(&s, near, nnear);
	if (r == 0) {
		own_errors(&s);
		rank_time(&(struct rank_input){ s.sum, s.nsums, s.about, (int)s.nhosts }, &time);
		rank_errors(&(struct rank_input){ s.sum, s.nsums, s.about, (int)s.nhosts },
			    &errors);
		r = write_candidates(&s, &time, &errors);
		if (r == 0)
			r = conclude(&s, i, &time, &errors);
		counter_add(C_INCIDENT_RANKINGS, 1);
	}
	free(s.host);
	free(s.about);
	free(s.sum);
	return r;
}

/* What is counted of its last requests comes a little later; what goes on is looked at rarer. */
static bool is_due(const struct incident *i, int64_t now_us)
{
	if (i->into || i->ranked_us >= i->last_us + SETTLE_S * INCIDENT_SEC)
		return false;
	return i->closed_us || now_us >= i->rank_us;
}

int engine_blame(struct engine *e)
{
	int r = 0;

	for (size_t k = 0; k < incident_set_count_of(e->set) && r == 0; k++) {
		struct incident *i = incident_set_at(e->set, k);
		const struct engine_region *region = engine_region(e, i->region);

		if (!region || !is_due(i, region->now_us))
			continue;
		r = rank_one(e, i);
		i->ranked_us = region->now_us;
		i->rank_us = region->now_us + i->rank_gap_us;
		if (i->rank_gap_us < GAP_MOST_S * INCIDENT_SEC)
			i->rank_gap_us *= 2;
	}
	return r;
}

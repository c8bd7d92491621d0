// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/incident_graph.h"

#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/incident/rank/incident_via.h"

static void *grow_graph(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		die("out of memory");
	return p;
}

int graph_host(struct graph *s, uint64_t node, const char *address)
{
	for (size_t i = 0; i < s->nhosts; i++)
		if (s->host[i].node == node && (node || strcmp(s->host[i].address, address) == 0))
			return (int)i;
	if (s->nhosts == s->hosts_cap) {
		s->hosts_cap = s->hosts_cap ? 2 * s->hosts_cap : 64;
		s->host = grow_graph(s->host, s->hosts_cap, sizeof(*s->host));
		s->rank_host = grow_graph(s->rank_host, s->hosts_cap, sizeof(*s->rank_host));
	}
	s->host[s->nhosts] = (struct graph_host){ .node = node };
	s->rank_host[s->nhosts] = (struct rank_host){ .external = !node };
	text_clean_into(s->host[s->nhosts].address, GRAPH_TEXT, address,
			node ? 0 : strlen(address));
	return (int)s->nhosts++;
}

struct rank_host *graph_rank_host(struct graph *s, uint64_t node)
{
	int host = graph_host(s, node, "");

	return &s->rank_host[host];
}

static double column_double(const PGresult *res, int row, int column)
{
	return strtod(PQgetvalue(res, row, column), NULL);
}

/* The caller of a host may be unknown; the callee of a call always is a host, with a probe or
 * external. */
static void put_sum(struct graph *s, const PGresult *res, int row)
{
	uint64_t other = strtoull(PQgetvalue(res, row, 3), NULL, 10);
	enum rank_role role = (enum rank_role)atoi(PQgetvalue(res, row, 1));
	struct rank_sum sum = {
		.role = role,
		.host = graph_host(s, strtoull(PQgetvalue(res, row, 0), NULL, 10), ""),
		.other = -1,
		.n = column_double(res, row, 4),
		.errors = column_double(res, row, 5),
		.judged = column_double(res, row, 6),
		.excess = column_double(res, row, 7),
		.n_before = column_double(res, row, 8),
		.errors_before = column_double(res, row, 9),
		.judged_before = column_double(res, row, 10),
		.excess_before = column_double(res, row, 11),
		.us = column_double(res, row, 12),
		.us_before = column_double(res, row, 13),
		.noise = column_double(res, row, 14),
	};

	if (role == RANK_CALL || (role == RANK_SERVED && other))
		sum.other = graph_host(s, other, PQgetvalue(res, row, 2));
	s->sum[s->nsums++] = sum;
}

/* An external host whose address is called here, found by its address as a caller. */
static int external_at(const struct graph *s, const char *address)
{
	for (size_t i = 0; i < s->nhosts; i++)
		if (!s->host[i].node && rank_is_at(s->host[i].address, address))
			return (int)i;
	return -1;
}

void graph_read(struct graph *s, const PGresult *res)
{
	int n = PQntuples(res);

	s->sum = grow_graph(NULL, (size_t)n + 1, sizeof(*s->sum));
	for (int k = 0; k < n; k++)
		put_sum(s, res, k);
	for (int k = 0; k < n; k++)
		if (s->sum[k].role == RANK_SERVED && s->sum[k].other < 0)
			s->sum[k].other = external_at(s, PQgetvalue(res, k, 2));
}

struct rank_input graph_input(const struct graph *s)
{
	return (struct rank_input){ s->sum, s->nsums, s->rank_host, (int)s->nhosts };
}

static void put_name(const struct graph *s, int host, struct buf *j)
{
	const struct graph_host *h = &s->host[host];

	json_text(j, *h->name ? h->name : h->address);
}

void graph_put_parts(const struct graph *s, const struct rank_part *part, int n, struct buf *j)
{
	json_raw(j, "[");
	for (int i = 0; i < n; i++) {
		json_raw(j, i ? ",{\"from\":" : "{\"from\":");
		put_name(s, part[i].from, j);
		json_raw(j, ",\"to\":");
		if (part[i].to < 0)
			json_raw(j, "null");
		else
			put_name(s, part[i].to, j);
		json_raw(j, ",\"value\":");
		json_number(j, part[i].value);
		json_raw(j, ",\"net\":");
		json_number(j, part[i].net);
		json_raw(j, "}");
	}
	json_raw(j, "]");
}

void graph_free(struct graph *s)
{
	free(s->host);
	free(s->rank_host);
	free(s->sum);
	*s = (struct graph){ 0 };
}

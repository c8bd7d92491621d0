// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_graph.h"

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/incident/model/incident_via.h"
#include "collector/db/jsonb.h"

static void *grown(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		die("out of memory");
	return p;
}

int scene_host(struct scene *s, uint64_t node, const char *address)
{
	for (size_t i = 0; i < s->nhosts; i++)
		if (s->host[i].node == node && (node || strcmp(s->host[i].address, address) == 0))
			return (int)i;
	if (s->nhosts == s->hosts_cap) {
		s->hosts_cap = s->hosts_cap ? 2 * s->hosts_cap : 64;
		s->host = grown(s->host, s->hosts_cap, sizeof(*s->host));
		s->about = grown(s->about, s->hosts_cap, sizeof(*s->about));
	}
	s->host[s->nhosts] = (struct scene_host){ .node = node };
	s->about[s->nhosts] = (struct rank_host){ .external = !node };
	text_clean_into(s->host[s->nhosts].address, SCENE_TEXT, address,
			node ? 0 : strlen(address));
	return (int)s->nhosts++;
}

struct rank_host *scene_about(struct scene *s, uint64_t node)
{
	int host = scene_host(s, node, "");

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
		.host = scene_host(s, strtoull(PQgetvalue(res, row, 0), NULL, 10), ""),
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
		sum.other = scene_host(s, other, PQgetvalue(res, row, 2));
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

void scene_read(struct scene *s, const PGresult *res)
{
	int n = PQntuples(res);

	s->sum = grown(NULL, (size_t)n + 1, sizeof(*s->sum));
	for (int k = 0; k < n; k++)
		put_sum(s, res, k);
	for (int k = 0; k < n; k++)
		if (s->sum[k].role == RANK_SERVED && s->sum[k].other < 0)
			s->sum[k].other = external_at(s, PQgetvalue(res, k, 2));
}

struct rank_input scene_input(const struct scene *s)
{
	return (struct rank_input){ s->sum, s->nsums, s->about, (int)s->nhosts };
}

static void put_name(const struct scene *s, int host, struct buf *j)
{
	const struct scene_host *h = &s->host[host];

	jsonb_text(j, *h->name ? h->name : h->address);
}

void scene_put_parts(const struct scene *s, const struct rank_part *part, int n, struct buf *j)
{
	jsonb_raw(j, "[");
	for (int i = 0; i < n; i++) {
		jsonb_raw(j, i ? ",{\"from\":" : "{\"from\":");
		put_name(s, part[i].from, j);
		jsonb_raw(j, ",\"to\":");
		if (part[i].to < 0)
			jsonb_raw(j, "null");
		else
			put_name(s, part[i].to, j);
		jsonb_raw(j, ",\"value\":");
		jsonb_number(j, part[i].value);
		jsonb_raw(j, ",\"net\":");
		jsonb_number(j, part[i].net);
		jsonb_raw(j, "}");
	}
	jsonb_raw(j, "]");
}

void scene_free(struct scene *s)
{
	free(s->host);
	free(s->about);
	free(s->sum);
	*s = (struct scene){ 0 };
}

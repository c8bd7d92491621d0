// SPDX-License-Identifier: Apache-2.0
/*
 * relay_incident.c - puts incidents of this region, and of regions that relay to it, into the
 * outbox: each incident whole, whenever it changed.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/relay/relay.h"

enum { INCIDENTS_AT_ONCE = 50 };

enum { ID, REGION, ONSET, LAST, OPENED, CLOSED, INTO, FIRST, TITLE, SHAPE, SAID };

#define US(column)                                                                                 \
	"coalesce((extract(epoch from case when isfinite(" column ") then " column                 \
	" end) * 1000000)::bigint, 0)"

static const char due_sql[] = "select id, region, " US("onset") ", " US("last") ", " US(
	"opened") ", " US("closed") ", coalesce(merged_into, 0), coalesce(first_host, 0), title,"
				    " shape, said from incidents_to_tell($1::boolean, $2::int)";

static const char signals_sql[] =
	"select incident_id, host_id, app, route, class, reason_id, " US("first") ", " US(
		"last") ", n, excess_us from incident_signal where incident_id = any($1::bigint[])"
			" order by incident_id, excess_us desc, n desc, signal_id";

static const char sent_sql[] =
	"insert into relay_told_incident select u.*, now() from unnest($1::bigint[], $2::bigint[],"
	" $3::bigint[]) u(incident_id, shape, said) order by 1 on conflict (incident_id) do update"
	" set shape = excluded.shape, said = excluded.said, at = excluded.at";

struct incident_message {
	PGresult *due, *signals;
	int next; /* row of signals */
	struct signal_item signal[ITEM_MAX_SIGNALS];
};

static uint64_t number(const PGresult *res, int row, int column)
{
	return strtoull(PQgetvalue(res, row, column), NULL, 10);
}

static uint32_t take_signals(struct incident_message *t, const char *id)
{
	uint32_t n = 0;

	for (; t->next < PQntuples(t->signals); t->next++) {
		const PGresult *s = t->signals;
		int row = t->next;

		if (strcmp(PQgetvalue(s, row, 0), id) != 0)
			break;
		if (n == ITEM_MAX_SIGNALS)
			continue;
		t->signal[n] = (struct signal_item){
			.node = number(s, row, 1),
			.app = PQgetvalue(s, row, 2),
			.route = PQgetvalue(s, row, 3),
			.class = PQgetvalue(s, row, 4),
			.reason = (uint16_t)number(s, row, 5),
			.first_us = number(s, row, 6),
			.last_us = number(s, row, 7),
			.n = number(s, row, 8),
			.excess_us = number(s, row, 9),
		};
		n++;
	}
	return n;
}

static void put_incident(struct incident_message *t, int row, const char *region,
			 struct outbox_body *b)
{
	const PGresult *d = t->due;
	const char *of = PQgetvalue(d, row, REGION);
	struct incident_item item = {
		.id = number(d, row, ID),
		.onset_us = number(d, row, ONSET),
		.last_us = number(d, row, LAST),
		.opened_us = number(d, row, OPENED),
		.closed_us = number(d, row, CLOSED),
		.into = number(d, row, INTO),
		.first_host = number(d, row, FIRST),
		.text = PQgetvalue(d, row, TITLE),
		.signals = t->signal,
	};

	if (*of && strcmp(of, region) != 0)
		item.region[item.hops++] = of;
	item.region[item.hops++] = region;
	item.nsignals = take_signals(t, PQgetvalue(d, row, ID));
	b->wall_ns = clock_wall_ns();
	b->items = 1;
	wire_put_incident(&b->body, &item);
}

/* A column of the due incidents as an array. */
static void put_array(const PGresult *due, int column, struct buf *out)
{
	for (int i = 0; i < PQntuples(due); i++) {
		buf_put(out, i ? "," : "{", 1);
		buf_put(out, PQgetvalue(due, i, column), strlen(PQgetvalue(due, i, column)));
	}
	buf_put(out, "}", 2);
}

static int ask_lists(struct pg *p, const char *sql, const PGresult *due, const int *column, int n,
		     PGresult **out)
{
	struct buf b[3] = { 0 };
	struct pg_args a = { 0 };
	int r;

	for (int i = 0; i < n; i++) {
		put_array(due, column[i], &b[i]);
		pg_arg_text(&a, (const char *)b[i].data);
	}
	r = out ? pg_ask(p, sql, &a, out) : pg_execute(p, sql, &a);
	for (int i = 0; i < n; i++)
		buf_free(&b[i]);
	return r;
}

static int put_incidents(struct pg *p, struct incident_message *t, const char *region)
{
	size_t n = (size_t)PQntuples(t->due);
	struct outbox_body *b = calloc(n, sizeof(*b));
	uint64_t seq;
	int r;

	if (!b)
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		put_incident(t, (int)i, region, &b[i]);
	r = outbox_put(p, b, n, &seq);
	for (size_t i = 0; i < n; i++)
		buf_free(&b[i].body);
	free(b);
	return r;
}

static int queue_incidents(struct pg *p, struct incident_message *t, const char *region)
{
	static const int ids[] = { ID }, sent[] = { ID, SHAPE, SAID };
	int r = ask_lists(p, signals_sql, t->due, ids, 1, &t->signals);

	if (r == 0)
		r = put_incidents(p, t, region);
	return r < 0 ? r : ask_lists(p, sent_sql, t->due, sent, 3, NULL);
}

int relay_incidents(struct pg *p, const char *region, bool up)
{
	struct incident_message *t = calloc(1, sizeof(*t));
	struct pg_args a = { 0 };
	char most[16];
	int r;

	if (!t)
		die("out of memory");
	snprintf(most, sizeof(most), "%d", INCIDENTS_AT_ONCE);
	pg_arg_text(&a, up ? "t" : "f");
	pg_arg_text(&a, most);
	r = pg_do(p, "begin");
	if (r == 0)
		r = pg_ask(p, due_sql, &a, &t->due);
	if (r == 0 && PQntuples(t->due))
		r = queue_incidents(p, t, region);
	if (r == 0)
		r = pg_commit(p);
	else
		pg_rollback(p);
	PQclear(t->due);
	PQclear(t->signals);
	free(t);
	return r;
}

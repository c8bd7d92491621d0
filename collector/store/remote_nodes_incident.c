// SPDX-License-Identifier: Apache-2.0
/* remote_nodes_incident.c - stores an incident that a relay reported, for the correlator
 * to import. */
#include "collector/store/remote_nodes.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "collector/store/row/dims.h"
#include "collector/incident/model/incident.h"

/* Limit for one signal, in requests or us, so that sums of many signals fit a bigint. */
static const uint64_t MOST = 1000000000000000;

static void put_text(struct buf *j, const char *name, const char *s)
{
	json_raw(j, name);
	json_text(j, s);
}

static void put_uint(struct buf *j, const char *name, uint64_t v)
{
	json_raw(j, name);
	json_uint(j, v);
}

static uint64_t at_most(uint64_t v)
{
	return v < MOST ? v : MOST;
}

/* A time in the future becomes now, as with rows: otherwise the incident would stay until that
 * time. */
static uint64_t clamp_us(const struct batch *b, uint64_t us)
{
	uint64_t until_ns = b->until_ns > b->other_until_ns ? b->until_ns : b->other_until_ns;

	return us < until_ns / 1000 ? us : b->now_ns / 1000;
}

static void put_signal(struct buf *j, const struct batch *b, const struct signal_item *s)
{
	char class[SIGNAL_CLASS];

	text_clean_into(class, sizeof(class), s->class, strlen(s->class));
	put_uint(j, "{\"node\":", s->node);
	put_text(j, ",\"app\":", s->app);
	put_text(j, ",\"route\":", s->route);
	put_text(j, ",\"class\":", class);
	put_uint(j, ",\"reason\":", s->reason);
	put_uint(j, ",\"first_us\":", clamp_us(b, s->first_us));
	put_uint(j, ",\"last_us\":", clamp_us(b, s->last_us));
	put_uint(j, ",\"n\":", at_most(s->n));
	put_uint(j, ",\"excess_us\":", at_most(s->excess_us));
	json_raw(j, "}");
}

static void put_signals(struct buf *j, const struct batch *b, const struct incident_item *q)
{
	json_raw(j, "[");
	for (uint32_t i = 0; i < q->nsignals; i++) {
		if (i)
			json_raw(j, ",");
		put_signal(j, b, &q->signals[i]);
	}
	json_raw(j, "]");
	buf_put(j, "", 1);
}

int remote_nodes_store_incident(struct pg *p, const struct batch *b, const struct incident_item *q)
{
	static const char sql[] =
		"select take_incident($1::bigint, $2::bigint, $3, $4::int, $5::bigint, $6::bigint,"
		" $7::bigint, $8::bigint, $9::bigint, $10::bigint, $11, $12::jsonb)";
	const uint64_t numbers[] = { clamp_us(b, q->onset_us),
				     clamp_us(b, q->last_us),
				     clamp_us(b, q->opened_us),
				     clamp_us(b, q->closed_us),
				     q->into,
				     q->first_host };
	char text[ARRAY_SIZE(numbers)][24], id[24], region[24], hops[16];
	struct pg_args a = { 0 };
	struct buf j = { 0 };
	uint64_t of;
	int r = dims_region(p, q->region[0], &of);

	if (r < 0)
		return r;
	put_signals(&j, b, q);
	snprintf(id, sizeof(id), "%" PRIu64, q->id);
	snprintf(region, sizeof(region), "%" PRId64, (int64_t)of);
	snprintf(hops, sizeof(hops), "%" PRIu32, q->hops);
	pg_arg_text(&a, id);
	pg_arg_text(&a, region);
	pg_arg_text(&a, b->relay);
	pg_arg_text(&a, hops);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(text[i], sizeof(text[i]), "%" PRIu64, numbers[i]);
		pg_arg_text(&a, text[i]);
	}
	pg_arg_text(&a, q->text);
	pg_arg_text(&a, (const char *)j.data);
	r = pg_execute(p, sql, &a);
	buf_free(&j);
	return r;
}

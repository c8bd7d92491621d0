// SPDX-License-Identifier: Apache-2.0
#include "collector/relay/relay_box.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "collector/core/counters.h"

enum {
	CHUNK_BATCHES = 128, /* most batches of one read */
	CHUNK_BYTES = 4 << 20, /* a read ends with the batch that passes this */
	AHEAD_BATCHES = 512, /* read and not acknowledged */
	AHEAD_BYTES = 16 << 20,
	SPOOL_BYTES = 128 << 20, /* never reached: the spool would drop batches */
};

static uint64_t number(const PGresult *row, int column, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | (uint8_t)PQgetvalue(row, 0, column)[i];
	return v;
}

struct box_reader {
	struct relay_box *box;
	enum wire_stream stream;
	bool hole;
	unsigned n;
};

/* Retention leaves holes in the numbers. A stream skips a hole once its spool is empty. */
static int on_row(void *arg, const PGresult *row)
{
	struct box_reader *to = arg;
	struct relay_box *r = to->box;
	uint64_t seq = number(row, 0, 8);

	if (to->hole)
		return 0;
	if (seq != r->read[to->stream] + 1) {
		to->hole = spool_base(r->spool, to->stream) <= r->read[to->stream];
		if (to->hole)
			return 0;
		spool_begin(r->spool, to->stream, seq);
		r->base[to->stream] = seq;
	}
	spool_append(r->spool, to->stream, number(row, 1, 8), (uint32_t)number(row, 2, 4),
		     PQgetvalue(row, 0, 3), (size_t)PQgetlength(row, 0, 3));
	r->read[to->stream] = seq;
	to->n++;
	return 0;
}

static int read_chunk(struct relay_box *r, enum wire_stream stream, unsigned *n)
{
	struct box_reader to = { .box = r, .stream = stream };
	char sql[400];
	int e;

	snprintf(sql, sizeof(sql),
		 "select seq, wall_ns, items, body from (select *, sum(octet_length(body)) over "
		 "(order by seq) - octet_length(body) as before from (select * from outbox where "
		 "stream = %d and seq > %" PRIu64 " order by seq limit %d) c) s where before < %d "
		 "order by seq",
		 stream, r->read[stream], CHUNK_BATCHES, CHUNK_BYTES);
	e = pg_each(r->pg, sql, on_row, &to);
	*n = to.n;
	return e;
}

/*
 * The first read fills the limits completely: the global collector may have acknowledged all that
 * was read before a restart, and a watermark beyond the batches read would look like that of
 * another epoch.
 */
int relay_box_ahead(struct relay_box *r, bool start)
{
	for (enum wire_stream s = STREAM_EVENT; s < STREAM_END; s++) {
		unsigned n = 1;

		while (n) {
			uint64_t ahead = r->read[s] + 1 - spool_base(r->spool, s);
			size_t bytes = spool_bytes(r->spool) / (s == STREAM_METRIC ? 2 : 1);
			int e;

			if (ahead + (start ? 0 : CHUNK_BATCHES) > AHEAD_BATCHES ||
			    bytes + (start ? 0 : CHUNK_BYTES + WIRE_MAX_FRAME) > AHEAD_BYTES)
				break;
			e = read_chunk(r, s, &n);
			if (e < 0)
				return e;
		}
	}
	return 0;
}

int relay_box_delete(struct relay_box *r)
{
	char sql[200];
	int e;

	for (enum wire_stream s = STREAM_EVENT; s < STREAM_END; s++) {
		uint64_t base = spool_base(r->spool, s);

		if (base <= r->base[s])
			continue;
		snprintf(sql, sizeof(sql),
			 "delete from outbox where stream = %d and seq < %" PRIu64, s, base);
		e = pg_do(r->pg, sql);
		if (e < 0)
			return e;
		counter_add(C_OUTBOX_SENT, base - r->base[s]);
		r->base[s] = base;
	}
	return 0;
}

int relay_box_left(struct relay_box *r)
{
	AUTO(PQclear) PGresult *res = NULL;
	int e = pg_ask(r->pg,
		       "select coalesce(sum(h.seq - coalesce((select min(o.seq) from outbox o "
		       "where o.stream = h.stream), h.seq + 1) + 1), 0)::bigint from outbox_head h",
		       &(struct pg_args){ 0 }, &res);

	if (e == 0)
		counter_set(C_OUTBOX_LEFT, strtoull(PQgetvalue(res, 0, 0), NULL, 10));
	return e;
}

int relay_box_begin(struct pg *p)
{
	char sql[120];

	snprintf(sql, sizeof(sql), "select outbox_put(%" PRId64 ", '{}', '{}', '{}', '{}')",
		 (int64_t)spool_draw_epoch());
	return pg_do(p, sql);
}

int relay_box_home(struct pg *p)
{
	AUTO(PQclear) PGresult *res = NULL;
	char sql[80];
	int e;

	snprintf(sql, sizeof(sql), "select outbox_home(%" PRId64 ")", (int64_t)spool_draw_epoch());
	e = pg_ask(p, sql, &(struct pg_args){ 0 }, &res);
	if (e == 0 && *PQgetvalue(res, 0, 0) == 't')
		log_warn(0,
			 "the outbox of this region is in another database than before (a restored "
			 "backup, or a standby that took over): its batches get new numbers, and "
			 "the global collector skips those that it has");
	return e;
}

/* An unused outbox has no epoch yet. */
int relay_box_open(struct relay_box *r, struct pg *p)
{
	static const char sql[] =
		"select h.stream, h.epoch, coalesce((select min(o.seq) from outbox o where "
		"o.stream = h.stream), h.seq + 1) from outbox_head h order by 1";
	AUTO(PQclear) PGresult *res = NULL;
	int e = pg_ask(p, sql, &(struct pg_args){ 0 }, &res);

	if (e < 0 || PQntuples(res) < STREAM_END - 1)
		return e < 0 ? e : -ENODATA;
	r->pg = p;
	r->epoch = strtoull(PQgetvalue(res, 0, 1), NULL, 10);
	r->spool = spool_of_epoch(SPOOL_BYTES, r->epoch);
	for (enum wire_stream s = STREAM_EVENT; s < STREAM_END; s++) {
		r->base[s] = strtoull(PQgetvalue(res, (int)s - 1, 2), NULL, 10);
		r->read[s] = r->base[s] - 1;
		spool_begin(r->spool, s, r->base[s]);
	}
	return 0;
}

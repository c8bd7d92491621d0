// SPDX-License-Identifier: Apache-2.0
#include "collector/store/row/tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/text.h"
#include "collector/db/columns.h"

enum { FIELD_LENGTH = 4, TIME_BYTES = 8, PIECE_BYTES = 64 << 10 };

/* Copies in pieces that fit the CPU caches on their way to the kernel; smaller ones cost more
 * calls. */
static int copy_rows(struct pg *p, struct batch *const *b, size_t n, enum fact fact,
		     struct buf *piece)
{
	int r = 0;

	buf_reset(piece);
	copy_begin(piece);
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct rows *rows = &b[i]->rows[fact];

		buf_put(piece, rows->bytes.data, rows->bytes.len);
		if (piece->len < PIECE_BYTES)
			continue;
		r = pg_copy_put(p, piece);
		buf_reset(piece);
	}
	copy_end(piece);
	return r < 0 ? r : pg_copy_put(p, piece);
}

static int copy_fact(struct pg *p, struct batch *const *b, size_t n, enum fact fact,
		     const char *sql, struct buf *scratch)
{
	uint32_t rows = 0;
	int r;

	for (size_t i = 0; i < n; i++)
		rows += b[i]->rows[fact].n;
	if (rows == 0)
		return 0;
	r = pg_do(p, sql);
	if (r == 0)
		r = copy_rows(p, b, n, fact, scratch);
	return r < 0 ? r : pg_copy_end(p);
}

static void set_commit_time(struct rows *rows, const size_t *at, const struct buf *field)
{
	for (uint32_t i = 0; i < rows->n; i++)
		memcpy(rows->bytes.data + at[i], field->data + FIELD_LENGTH, TIME_BYTES);
}

/* Columns are named, so that this collector still works after a later one has added some. */
static const char *const copy_sql[FACT_END] = {
	[FACT_SAMPLE] = "copy sample (ts, node_id, entity_id, layout_id, v) from stdin binary",
	[FACT_SAMPLE_RAW] = "copy sample_raw (ts, node_id, layout_id, entities, v) from stdin "
			    "binary",
	[FACT_REQUEST] = "copy request (ts, node_id, request_id, stored, app, comm, pid, tid, "
			 "remote, remote_port,"
			 " local, local_port, method, path, route, flags, status, request_us, "
			 "queue_us, upstream_us,"
			 " bytes_in, bytes_out, normal_us, limit_us, retrans, srtt_us, rcv_ooo, "
			 "reason_id, params,"
			 " upstreams, shares, checks_id, losses, trace, sent_id) from stdin binary",
	[FACT_RED] =
		"copy red (ts, node_id, key_id, status_class, n, sum_us, lo, b, excess_us, judged) "
		"from stdin binary",
	[FACT_UNREAD] = "copy unread (ts, node_id, app, kind, n) from stdin binary",
	[FACT_EVENT] =
		("copy event (ts, node_id, event_id, stored, kind, severity, pid, tid, comm, us,"
		 " error_us, reason_id, params, told, going_on, epoch, evidence_id) from stdin "
		 "binary"),
	[FACT_EVIDENCE] =
		("copy evidence (ts, node_id, owner_id, place, start_us, us, part_id, pid, tid,"
		 " comm, call, what, who, stack_id) from stdin binary"),
	[FACT_PROFILE] = "copy profile (ts, node_id, app, period_us, kernel_ids, user_ids, n) from "
			 "stdin binary",
};

/* Rolls up again the slots of these nodes that were rolled up before their rows came. */
static int rollup_late_red(struct pg *p, struct batch *const *b, size_t n)
{
	static const enum array_type types[] = { ARRAY_TIME, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		if (!b[i]->rows[FACT_RED].n)
			continue;
		copy_time(&c.column[0], b[i]->tick_ns);
		copy_int8(&c.column[1], (int64_t)b[i]->of.node_id);
		columns_row(&c);
	}
	return columns_execute(&c, p, "select take_red_of($1::timestamptz[], $2::bigint[])");
}

int tables_rows(struct pg *p, struct batch *const *b, size_t n, uint64_t commit_ns,
		struct buf *scratch)
{
	struct buf field = { 0 };
	int r = 0;

	copy_time(&field, commit_ns);
	for (size_t i = 0; i < n; i++) {
		set_commit_time(&b[i]->rows[FACT_REQUEST], b[i]->stored_at, &field);
		set_commit_time(&b[i]->rows[FACT_EVENT], b[i]->event_stored_at, &field);
	}
	buf_free(&field);
	for (int f = 0; f < FACT_END && r == 0; f++)
		r = copy_fact(p, b, n, (enum fact)f, copy_sql[f], scratch);
	return r < 0 ? r : rollup_late_red(p, b, n);
}

int tables_gaps(struct pg *p, struct batch *const *b, size_t n)
{
	static const char sql[] =
		"insert into gap (ts, node_id, epoch, stream, seq_from, seq_to) select * from "
		"unnest("
		"$1::timestamptz[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[],"
		" $6::bigint[])";
	static const enum array_type types[] = { ARRAY_TIME, ARRAY_INT8, ARRAY_INT8,
						 ARRAY_INT2, ARRAY_INT8, ARRAY_INT8 };
	AUTO(columns_free) struct columns c = { 0 };

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		if (b[i]->gap_from == b[i]->head.seq)
			continue;
		copy_time(&c.column[0], b[i]->now_ns);
		copy_int8(&c.column[1], (int64_t)b[i]->head.node_id);
		copy_int8(&c.column[2], (int64_t)b[i]->head.epoch);
		copy_int2(&c.column[3], b[i]->head.stream);
		copy_int8(&c.column[4], (int64_t)b[i]->gap_from);
		copy_int8(&c.column[5], (int64_t)b[i]->head.seq - 1);
		columns_row(&c);
	}
	return columns_execute(&c, p, sql);
}

int tables_quarantine(struct pg *p, struct batch *b, const char *state, const char *message)
{
	static const char sql[] =
		"insert into quarantine (node_id, epoch, stream, seq, sqlstate, message, body)"
		" values ($1::bigint, $2::bigint, $3::smallint, $4::bigint, $5, $6, $7::bytea)";
	const struct buf body = { .data = zmq_msg_data(&b->body), .len = batch_bytes(b) };
	struct pg_args a = { 0 };
	char number[4][24], text[512];

	snprintf(number[0], sizeof(number[0]), "%" PRId64, (int64_t)b->head.node_id);
	snprintf(number[1], sizeof(number[1]), "%" PRId64, (int64_t)b->head.epoch);
	snprintf(number[2], sizeof(number[2]), "%u", b->head.stream);
	snprintf(number[3], sizeof(number[3]), "%" PRIu64, b->head.seq);
	for (int i = 0; i < 4; i++)
		pg_arg_text(&a, number[i]);
	pg_arg_text(&a, state);
	text_clean_into(text, sizeof(text), message, strlen(message));
	pg_arg_text(&a, text);
	pg_arg_binary(&a, &body);
	return pg_execute(p, sql, &a);
}

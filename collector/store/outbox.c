// SPDX-License-Identifier: Apache-2.0
#include "collector/store/outbox.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/spool/spool.h"
#include "collector/db/columns.h"
#include "collector/core/counters.h"

static const enum array_type types[] = { ARRAY_INT2, ARRAY_INT8, ARRAY_INT8, ARRAY_BYTES };

struct outbox {
	const char *region;
	struct buf body; /* body of one batch */
};

struct outbox *outbox_new(const char *region)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (!o)
		die("out of memory");
	o->region = region;
	return o;
}

void outbox_free(struct outbox *o)
{
	if (!o)
		return;
	buf_free(&o->body);
	free(o);
}

/* The origin of the batch: its node, and the regions it came through, this one last. */
static void put_origin(struct outbox *o, const struct batch *b)
{
	struct origin_item of = { .node = b->of.node_id,
				  .epoch = b->of.epoch,
				  .stream = b->of.stream,
				  .seq = b->of.seq,
				  .name = b->origin ? b->origin->name : b->name };

	for (uint32_t i = 0; b->origin && i < b->origin->hops && i < ITEM_MAX_HOPS - 1; i++)
		of.region[of.hops++] = b->origin->region[i];
	of.region[of.hops++] = o->region;
	wire_put_origin(&o->body, &of);
}

static uint32_t put_metrics(struct buf *body, const struct wire_body *w)
{
	for (uint32_t i = 0; i < w->nreds; i++)
		wire_put_red(body, &w->reds[i]);
	for (uint32_t i = 0; i < w->nunreads; i++)
		wire_put_unread(body, &w->unreads[i]);
	for (uint32_t i = 0; i < w->nrollups; i++)
		wire_put_rollup(body, &w->rollups[i]);
	return w->nreds + w->nunreads + w->nrollups;
}

static uint32_t put_events(struct buf *body, const struct wire_body *w)
{
	for (uint32_t i = 0; i < w->nnodes; i++)
		wire_put_node(body, &w->nodes[i]);
	for (uint32_t i = 0; i < w->nsources; i++)
		wire_put_source(body, &w->sources[i]);
	for (uint32_t i = 0; i < w->nstacks; i++)
		wire_put_stack(body, &w->stacks[i]);
	for (uint32_t i = 0; i < w->nplaces; i++)
		wire_put_place(body, &w->places[i]);
	for (uint32_t i = 0; i < w->nnats; i++)
		wire_put_nat(body, &w->nats[i]);
	for (uint32_t i = 0; i < w->nrequests; i++)
		wire_put_request(body, &w->requests[i]);
	for (uint32_t i = 0; i < w->nevents; i++)
		wire_put_event(body, &w->events[i]);
	for (uint32_t i = 0; i < w->nclocks; i++)
		wire_put_clock(body, &w->clocks[i]);
	return w->nclocks + w->nnodes + w->nsources + w->nstacks + w->nplaces + w->nnats +
	       w->nrequests + w->nevents;
}

/*
 * Writes the items of a batch and returns their number, 0 if there is nothing to relay. An event
 * body without samples and profiles is copied as it came: it decodes there as it did here.
 * Otherwise the items are encoded again, without those that are not relayed.
 */
static uint32_t put_items(struct outbox *o, struct batch *b)
{
	const struct wire_body *w = &b->items;
	uint32_t n;

	if (b->of.stream == STREAM_EVENT && !w->nsamples && !w->nprofiles) {
		n = w->nclocks + w->nnodes + w->nsources + w->nstacks + w->nplaces + w->nnats +
		    w->nrequests + w->nevents + w->nreds + w->nunreads;
		buf_put(&o->body, (const char *)zmq_msg_data(&b->body) + b->origin_len,
			batch_bytes(b) - b->origin_len);
		return n;
	}
	return put_events(&o->body, w) + put_metrics(&o->body, w);
}

static void put_batch(struct outbox *o, struct columns *c, struct batch *b)
{
	uint32_t n;

	if (*b->relay && !b->origin)
		return;
	buf_reset(&o->body);
	put_origin(o, b);
	n = put_items(o, b);
	if (!n)
		return;
	if (o->body.len > WIRE_MAX_FRAME) {
		counter_add(C_OUTBOX_LARGE, 1);
		return;
	}
	copy_int2(&c->column[0], b->of.stream);
	copy_int8(&c->column[1], (int64_t)b->of.wall_ns);
	copy_int8(&c->column[2], n);
	copy_bytes(&c->column[3], o->body.data, o->body.len);
	columns_row(c);
}

/* The epoch is used only by the first call ever on this database. */
static int insert_rows(struct columns *c, struct pg *p, PGresult **res)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "select outbox_put(%" PRId64 ", $1::smallint[], $2::bigint[], $3::bigint[],"
		 " $4::bytea[])",
		 (int64_t)spool_draw_epoch());
	return columns_ask(c, p, sql, res);
}

int outbox_store(struct outbox *o, struct pg *p, struct batch *const *b, size_t n)
{
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++)
		put_batch(o, &c, b[i]);
	if (!c.rows)
		return 0;
	r = insert_rows(&c, p, &res);
	if (r == 0)
		counter_add(C_OUTBOX_PUT, c.rows);
	return r;
}

int outbox_put(struct pg *p, const struct outbox_body *b, size_t n, uint64_t *seq)
{
	AUTO(columns_free) struct columns c = { 0 };
	AUTO(PQclear) PGresult *res = NULL;
	int r;

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		copy_int2(&c.column[0], b[i].metric ? STREAM_METRIC : STREAM_EVENT);
		copy_int8(&c.column[1], (int64_t)b[i].wall_ns);
		copy_int8(&c.column[2], b[i].items);
		copy_bytes(&c.column[3], b[i].body.data, b[i].body.len);
		columns_row(&c);
	}
	r = insert_rows(&c, p, &res);
	if (r == 0)
		*seq = strtoull(PQgetvalue(res, 0, 0), NULL, 10);
	return r;
}

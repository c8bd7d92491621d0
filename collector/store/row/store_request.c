// SPDX-License-Identifier: Apache-2.0
/* store_request.c - makes rows of requests. */
#include "collector/store/row/store.h"

#include "lib/base/hash.h"
#include "lib/base/json.h"
#include "lib/wire/reason.h"
#include "collector/db/copy.h"
#include "collector/core/counters.h"

enum { REQUEST_FIELDS = 35 };

static void number_member(struct buf *j, const char *name, uint64_t v)
{
	json_raw(j, ",");
	json_text(j, name);
	json_raw(j, ":");
	json_uint(j, v);
}

static void up_json(struct buf *j, const struct up_item *u)
{
	const char *error = u->error ? strerrordesc_np(u->error) : "";
	char text[ADDR_TEXT];

	json_raw(j, "{\"addr\":");
	json_text(j, up_addr_text(u, text));
	json_raw(j, ",\"error\":");
	json_text(j, error ? error : "Unknown error");
	number_member(j, "startUs", (uint64_t)copy_bigint(u->start_us));
	number_member(j, "connectUs", (uint64_t)copy_bigint(u->connect_us));
	number_member(j, "responseUs", (uint64_t)copy_bigint(u->response_us));
	number_member(j, "status", u->status);
	number_member(j, "retrans", u->retrans);
	number_member(j, "srttUs", u->srtt_us);
	number_member(j, "flags", u->flags & INT32_MAX);
	number_member(j, "localPort", u->local_port);
	json_raw(j, "}");
}

static void ups_json(struct buf *j, const struct request_item *q)
{
	json_raw(j, "[");
	for (uint32_t i = 0; i < q->nups; i++) {
		json_raw(j, i ? "," : "");
		up_json(j, &q->ups[i]);
	}
	json_raw(j, "]");
}

static void put_peers(struct buf *o, const struct request_item *q)
{
	copy_text(o, q->app);
	copy_text(o, q->comm);
	copy_int4(o, copy_int(q->pid));
	copy_int4(o, copy_int(q->tid));
	copy_inet(o, &q->remote);
	copy_int4(o, q->remote.port);
	copy_inet(o, &q->local);
	copy_int4(o, q->local.port);
	copy_text(o, q->method);
	copy_text(o, q->path);
	copy_text(o, q->route);
}

static void put_times(struct buf *o, const struct request_item *q)
{
	uint64_t upstream_us = 0;

	for (uint32_t i = 0; i < q->nups; i++)
		if (__builtin_add_overflow(upstream_us, q->ups[i].response_us, &upstream_us))
			upstream_us = UINT64_MAX;
	copy_int8(o, copy_bigint(q->request_us));
	copy_int8(o, copy_bigint(q->queue_us));
	if (q->nups)
		copy_int8(o, copy_bigint(upstream_us));
	else
		copy_null(o);
	copy_int8(o, copy_bigint(q->bytes_in));
	copy_int8(o, copy_bigint(q->bytes_out));
	copy_int8(o, copy_bigint(q->normal_us));
	copy_int8(o, copy_bigint(q->limit_us));
	copy_int4(o, copy_int(q->retrans));
	copy_int4(o, copy_int(q->srtt_us));
	copy_int4(o, copy_int(q->rcv_ooo));
}

/* Whether each part has at most one share and the shares add up to the request's total time. */
static bool adds_up(const struct request_item *q)
{
	bool seen[UINT8_MAX + 1] = { false };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < q->nshares; i++) {
		const struct share_item *s = &q->shares[i];

		if (seen[s->part] || __builtin_add_overflow(sum, s->us, &sum))
			return false;
		seen[s->part] = true;
	}
	return sum == q->queue_us + q->request_us;
}

/* The position of a part in the console's bar. Parts of a later version come last. */
static size_t part_position(uint8_t part)
{
	size_t n, i = 0;
	const struct part_text *table = part_table(&n);

	while (i < n && table[i].id != part)
		i++;
	return i;
}

static int by_position(const void *a, const void *b)
{
	const struct share_item *x = a, *y = b;
	size_t px = part_position(x->part), py = part_position(y->part);

	return px == py ? x->part - y->part : px < py ? -1 : 1;
}

static void put_shares(struct buf *o, const struct request_item *q)
{
	struct share_item sorted[ITEM_MAX_SHARES];
	uint64_t v[3 * ITEM_MAX_SHARES];
	uint32_t n = 0;
	bool sound = adds_up(q);

	if (q->nshares && !sound)
		counter_add(C_SHARES_REFUSED, 1);
	if (!q->nshares || !sound) {
		copy_null(o);
		return;
	}
	memcpy(sorted, q->shares, q->nshares * sizeof(sorted[0]));
	qsort(sorted, q->nshares, sizeof(sorted[0]), by_position);
	for (uint32_t i = 0; i < q->nshares; i++) {
		if (!sorted[i].us && !sorted[i].normal_us)
			continue;
		v[n++] = sorted[i].part;
		v[n++] = sorted[i].us;
		v[n++] = sorted[i].normal_us;
	}
	copy_int8s(o, v, n);
}

/* Equal lists have the same id on every node. */
static uint64_t hash_checks(const struct request_item *q)
{
	uint64_t h = HASH_START;

	for (uint32_t i = 0; i < q->nchecks; i++) {
		h = hash_add(h, &q->checks[i].reason, sizeof(q->checks[i].reason));
		h = hash_add_str(h, q->checks[i].why ? q->checks[i].why : "");
	}
	return hash_end(h);
}

static void put_losses(struct buf *o, const struct request_item *q)
{
	uint32_t v[3 * ITEM_MAX_LOSSES];

	for (uint32_t i = 0; i < q->nlosses; i++) {
		v[3 * i] = q->losses[i].side;
		v[3 * i + 1] = q->losses[i].kind;
		v[3 * i + 2] = q->losses[i].count;
	}
	if (q->nlosses)
		copy_int4s(o, v, 3 * q->nlosses);
	else
		copy_null(o);
}

static void put_json(struct buf *o, const struct request_item *q, struct buf *json)
{
	buf_reset(json);
	store_params(json, q->params, q->nparams);
	copy_jsonb(o, json->data, json->len);
	buf_reset(json);
	ups_json(json, q);
	copy_jsonb(o, json->data, json->len);
}

static void put_findings(struct batch *b, uint32_t i)
{
	const struct request_item *q = &b->items.requests[i];
	struct buf *o = &b->rows[FACT_REQUEST].bytes;

	b->checks_id[i] = q->nchecks ? hash_checks(q) : 0;
	put_shares(o, q);
	if (q->nchecks)
		copy_int8(o, (int64_t)b->checks_id[i]);
	else
		copy_null(o);
	put_losses(o, q);
}

static void put_names(struct buf *o, const struct request_item *q)
{
	const char *const names[] = { q->trace, q->sent_id };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i])
			copy_text(o, names[i]);
		else
			copy_null(o);
}

void store_request(struct batch *b, uint32_t i, struct buf *json)
{
	const struct request_item *q = &b->items.requests[i];
	bool known = store_has_day(b, q->start_ns);
	struct rows *rows = &b->rows[FACT_REQUEST];
	struct buf *o = &rows->bytes;
	const struct store_owner owner = {
		.id = store_id(&b->of, "", i),
		.start_ns = q->start_ns,
		.row_ns = known ? q->start_ns : b->now_ns,
	};

	b->clamped += !known;
	b->stored_at[i] = o->len + STORED_AT;
	copy_row(o, REQUEST_FIELDS);
	copy_time(o, owner.row_ns);
	copy_int8(o, (int64_t)b->of.node_id);
	copy_int8(o, (int64_t)owner.id);
	copy_time(o, b->now_ns); /* stored: overwritten at the commit */
	put_peers(o, q);
	copy_int4(o, (int32_t)(q->flags & INT32_MAX));
	copy_int2(o, copy_smallint(q->status));
	put_times(o, q);
	copy_int2(o, copy_smallint(q->reason));
	put_json(o, q, json);
	put_findings(b, i);
	put_names(o, q);
	rows->n++;
	store_evidence(b, &owner, q->evidence, q->nevidence);
}

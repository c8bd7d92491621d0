// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <math.h>

#include "collector/db/copy.h"
#include "collector/pipeline/pipeline.h"
#include "collector/codec/row_codec.h"

#define SEC 1000000000ull

enum { DAY_S = 86400 };

static const uint64_t now_ns = 1790000000 * SEC;
static const struct wire_metric metrics[] = { { "a\x01", "s", METRIC_GAUGE },
					      { "b", "s", METRIC_COUNTER },
					      { "c", "s", METRIC_COUNTER } };
static const double values[] = { 1, 2, 3 };

struct rig {
	struct layouts *layouts;
	struct pipeline *front, *back;
	struct wire_dict dict;
};

static void set_up(struct rig *r)
{
	static const struct stage *const front[] = { &stage_decode, &stage_limit, &stage_enrich };
	static const struct stage *const back[] = { &stage_store };

	r->layouts = layouts_new();
	r->dict = (struct wire_dict){ .entity_kind = "disk", .n = 2, .metrics = metrics };
	r->dict.layout = wire_layout_id(&r->dict);
	CHECK_EQ(pipeline_open(&r->front, front, ARRAY_SIZE(front),
			       &(struct stage_env){ .layouts = r->layouts }),
		 0);
	CHECK_EQ(pipeline_open(&r->back, back, 1, &(struct stage_env){ 0 }), 0);
}

static void tear_down(struct rig *r)
{
	pipeline_close(r->front);
	pipeline_close(r->back);
	layouts_free(r->layouts);
}

static struct batch *batch_of(struct buf *body)
{
	struct batch *b = batch_new();

	b->of = b->head = (struct wire_batch_head){ 7, 8, STREAM_EVENT, 9, 1, now_ns, 0 };
	b->now_ns = now_ns;
	b->from_ns = now_ns - 2 * DAY_S * SEC;
	b->until_ns = now_ns + 2 * DAY_S * SEC;
	zmq_msg_close(&b->body);
	zmq_msg_init_size(&b->body, body->len);
	memcpy(zmq_msg_data(&b->body), body->data, body->len);
	buf_free(body);
	return b;
}

static struct batch *sample_of(const struct rig *r, uint32_t n)
{
	struct buf body = { 0 };

	wire_put_sample(&body, &(struct sample_item){ r->dict.layout, "sda", n, values });
	return batch_of(&body);
}

static struct batch *request_at(uint64_t start_ns, uint16_t status, uint64_t us)
{
	struct request_item q = { .start_ns = start_ns,
				  .app = "a\xff",
				  .comm = "c",
				  .method = "GET",
				  .path = "/",
				  .route = "/",
				  .status = status,
				  .request_us = us };
	struct buf body = { 0 };

	wire_put_request(&body, &q);
	wire_put_request(&body, &q);
	return batch_of(&body);
}

TEST(a_sample_of_an_unknown_layout_asks_for_it)
{
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *b = sample_of(&r, 2);

	CHECK_EQ(pipeline_run(r.front, b), -ENOKEY);
	CHECK(!b->malformed);
	CHECK_EQ(b->nneeded, 1);
	CHECK_EQ(b->needed[0], r.dict.layout);
	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_STR(b->layout[0]->kind, "disk");
	tear_down(&r);
}

TEST(beyond_the_rows_of_its_second_a_batch_is_counted_and_not_kept)
{
	struct rig r;
	struct buf body = { 0 };
	set_up(&r);

	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	for (int i = 0; i < 3; i++)
		wire_put_sample(&body, &(struct sample_item){ r.dict.layout, "sda", 2, values });
	for (int i = 0; i < 5; i++)
		wire_put_request(&body, &(struct request_item){ .app = "a",
								.comm = "c",
								.method = "GET",
								.path = "/",
								.route = "/" });
	wire_put_source(&body, &(struct source_item){ "request", SOURCE_ATTACHED, "" });
	AUTO(batch_free) struct batch *b = batch_of(&body);
	b->room = 4;
	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(b->items.nrequests, 4);
	CHECK_EQ(b->items.nsources, 1);
	CHECK_EQ(b->items.nsamples, 1);
	CHECK_STR(b->layout[0]->kind, "coverage");
	CHECK_STR(b->layout[0]->metrics[0].name, "rows_withheld");
	CHECK_EQ(b->items.samples[0].v[0], 1);
	CHECK_EQ(b->items.samples[0].v[3], 3);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	CHECK_EQ(b->rows[FACT_REQUEST].n, 4);
	tear_down(&r);
}

TEST(a_batch_within_its_room_is_as_it_was)
{
	struct rig r;
	set_up(&r);

	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	AUTO(batch_free) struct batch *b = sample_of(&r, 2);
	b->room = 1;
	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(b->items.nsamples, 1);
	CHECK_STR(b->layout[0]->kind, "disk");
	tear_down(&r);
}

TEST(a_layout_is_kept_once_and_with_clean_names)
{
	struct rig r;
	set_up(&r);

	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	const struct layout *l = layouts_find(r.layouts, r.dict.layout);
	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	CHECK(layouts_find(r.layouts, r.dict.layout) == l);
	CHECK_STR(l->metrics[0].name, "a\\x01");
	tear_down(&r);
}

TEST(a_sample_that_does_not_fit_its_layout_makes_its_batch_malformed)
{
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *b = sample_of(&r, 3);

	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	CHECK_EQ(pipeline_run(r.front, b), -EBADMSG);
	CHECK(b->malformed);
	tear_down(&r);
}

TEST(an_unreadable_body_makes_its_batch_malformed_and_no_row)
{
	struct rig r;
	struct buf body = { 0 };
	set_up(&r);

	buf_put(&body, "\xc1", 1);
	AUTO(batch_free) struct batch *b = batch_of(&body);
	CHECK(pipeline_run(r.front, b) < 0);
	CHECK(b->malformed);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	CHECK_EQ(b->rows[FACT_REQUEST].n, 0);
	tear_down(&r);
}

static void set_up_three(struct rig *r)
{
	set_up(r);
	r->dict.n = 3;
	r->dict.layout = wire_layout_id(&r->dict);
	CHECK_EQ(layouts_add(r->layouts, &r->dict), 0);
}

static struct batch *stored_raw(const struct rig *r, struct buf *body)
{
	struct batch *b = batch_of(body);

	b->raw_from_ns = now_ns;
	b->raw_until_ns = now_ns + 1;
	CHECK_EQ(pipeline_run(r->front, b), 0);
	CHECK_EQ(pipeline_run(r->back, b), 0);
	CHECK_EQ(b->rows[FACT_SAMPLE].n, 0);
	return b;
}

TEST(samples_of_one_layout_share_a_row_in_which_zeros_take_no_room)
{
	static const double some[3] = { 0, 0.1, 0 }, other[3] = { NAN, 7, -0.0 };
	struct row_codec raw;
	struct buf want = { 0 }, body = { 0 };
	struct rig r;
	set_up_three(&r);

	wire_put_sample(&body, &(struct sample_item){ r.dict.layout, "sda", 3, some });
	wire_put_sample(&body, &(struct sample_item){ r.dict.layout, "sdb", 3, other });
	AUTO(batch_free) struct batch *b = stored_raw(&r, &body);
	CHECK_EQ(b->rows[FACT_SAMPLE_RAW].n, 1);
	row_codec_begin(&raw);
	CHECK(row_codec_add(&raw, some, 3, 100) && row_codec_add(&raw, other, 3, 100));
	CHECK_EQ(row_codec_len(&raw), 3 + 4 + 2 * 1 + 2 * 8);
	copy_row(&want, 5);
	copy_time(&want, now_ns);
	copy_int8(&want, 7);
	copy_int8(&want, (int64_t)r.dict.layout);
	copy_int8s(&want, b->entity_id, 2);
	copy_len(&want, row_codec_len(&raw));
	row_codec_put(&want, &raw);
	CHECK_EQ(b->rows[FACT_SAMPLE_RAW].bytes.len, want.len);
	CHECK(memcmp(b->rows[FACT_SAMPLE_RAW].bytes.data, want.data, want.len) == 0);
	buf_free(&want);
	tear_down(&r);
}

/* A stored row takes 79 bytes beside its entities and values. */
TEST(a_row_takes_as_many_entities_as_fit_without_toast)
{
	static const double long_ones[3] = { 0.1, 0.2, 0.3 };
	const unsigned char *ids;
	struct buf body = { 0 };
	uint32_t n, bytes;
	struct rig r;
	set_up_three(&r);

	for (int i = 0; i < 200; i++)
		wire_put_sample(&body, &(struct sample_item){ r.dict.layout, "sda", 3, long_ones });
	AUTO(batch_free) struct batch *b = stored_raw(&r, &body);
	ids = b->rows[FACT_SAMPLE_RAW].bytes.data + 2 + 3 * 12;
	n = (ids[2] * 256u + ids[3] - 20) / 12;
	bytes = 79 + 8 * n + ids[26 + 12 * n] * 256u + ids[27 + 12 * n];
	CHECK(bytes <= 2032 && bytes + bytes / n > 2032);
	CHECK_EQ(b->rows[FACT_SAMPLE_RAW].n, (200 + n - 1) / n);
	tear_down(&r);
}

TEST(a_row_of_sample_has_the_bytes_that_copy_wants)
{
	struct rig r;
	struct buf want = { 0 };
	set_up(&r);
	AUTO(batch_free) struct batch *b = sample_of(&r, 2);

	CHECK_EQ(layouts_add(r.layouts, &r.dict), 0);
	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	copy_row(&want, 5);
	copy_time(&want, now_ns);
	copy_int8(&want, 7);
	copy_int8(&want, (int64_t)b->entity_id[0]);
	copy_int8(&want, (int64_t)r.dict.layout);
	copy_float8s(&want, values, 2);
	CHECK_EQ(b->rows[FACT_SAMPLE].bytes.len, want.len);
	CHECK(memcmp(b->rows[FACT_SAMPLE].bytes.data, want.data, want.len) == 0);
	buf_free(&want);
	tear_down(&r);
}

TEST(rows_may_be_made_again)
{
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *b = request_at(now_ns, 500, 1);

	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	size_t len = b->rows[FACT_REQUEST].bytes.len;
	CHECK_EQ(pipeline_run(r.back, b), 0);
	CHECK_EQ(b->rows[FACT_REQUEST].n, 2);
	CHECK_EQ(b->rows[FACT_REQUEST].bytes.len, len);
	tear_down(&r);
}

TEST(the_time_of_the_commit_has_its_place_in_every_row)
{
	struct rig r;
	struct buf time = { 0 };
	set_up(&r);
	AUTO(batch_free) struct batch *b = request_at(now_ns - SEC, 500, 1);

	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	copy_time(&time, now_ns); /* only the commit time is now; start differs */
	for (int i = 0; i < 2; i++)
		CHECK(memcmp(b->rows[FACT_REQUEST].bytes.data + b->stored_at[i] - 4, time.data,
			     12) == 0);
	buf_free(&time);
	tear_down(&r);
}

TEST(a_time_without_a_partition_becomes_that_of_the_arrival)
{
	struct rig r;
	struct buf time = { 0 };
	set_up(&r);
	AUTO(batch_free) struct batch *b = request_at(now_ns + 9 * DAY_S * SEC, 500, 1);

	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_EQ(pipeline_run(r.back, b), 0);
	CHECK_EQ(b->clamped, 2);
	copy_time(&time, now_ns);
	CHECK(memcmp(b->rows[FACT_REQUEST].bytes.data + 2, time.data, 12) == 0);
	b->head.wall_ns = 0;
	CHECK_EQ(pipeline_run(r.back, b), 0);
	CHECK_EQ(b->tick_ns, now_ns);
	buf_free(&time);
	tear_down(&r);
}

TEST(texts_are_clean_before_they_are_stored)
{
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *b = request_at(now_ns, 500, 1);

	CHECK_EQ(pipeline_run(r.front, b), 0);
	CHECK_STR(b->items.requests[0].app, "a\\xff");
	tear_down(&r);
}

static int64_t event_id_of(const struct batch *b)
{
	int64_t id;

	memcpy(&id, b->rows[FACT_EVENT].bytes.data + 2 + 12 + 12 + 4, sizeof(id));
	return id;
}

static struct batch *event_report(struct rig *r, uint64_t id, uint32_t report, uint64_t start_ns)
{
	struct event_item e = { .start_ns = start_ns,
				.us = DAY_S * 1000000ull,
				.kind = "k",
				.comm = "c",
				.id = id,
				.update = report,
				.going_on = report == 1 };
	struct buf body = { 0 };
	struct batch *b;

	wire_put_event(&body, &e);
	b = batch_of(&body);
	b->head.seq += report;
	CHECK_EQ(pipeline_run(r->front, b), 0);
	CHECK_EQ(pipeline_run(r->back, b), 0);
	return b;
}

TEST(all_reports_of_an_event_have_one_id_and_other_events_another)
{
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *first = event_report(&r, 5, 1, now_ns);
	AUTO(batch_free) struct batch *last = event_report(&r, 5, 2, now_ns);
	AUTO(batch_free) struct batch *other = event_report(&r, 6, 2, now_ns);
	AUTO(batch_free) struct batch *once = event_report(&r, 0, 0, now_ns);

	CHECK_EQ(event_id_of(first), event_id_of(last));
	CHECK(event_id_of(first) != event_id_of(other));
	CHECK(event_id_of(once) != event_id_of(other));
	tear_down(&r);
}

TEST(an_event_that_began_before_all_partitions_has_one_id)
{
	const uint64_t begin = now_ns - 3 * DAY_S * SEC, midnight = now_ns - now_ns % (DAY_S * SEC);
	struct buf day = { 0 };
	struct rig r;
	set_up(&r);
	AUTO(batch_free) struct batch *first = event_report(&r, 5, 1, begin);
	AUTO(batch_free) struct batch *last = event_report(&r, 5, 2, begin);

	copy_time(&day, midnight);
	CHECK(memcmp(first->rows[FACT_EVENT].bytes.data + 2, day.data, 12) == 0);
	CHECK(memcmp(last->rows[FACT_EVENT].bytes.data + 2, day.data, 12) == 0);
	CHECK_EQ(event_id_of(first), event_id_of(last));
	CHECK_EQ(first->clamped, 1);
	buf_free(&day);
	tear_down(&r);
}

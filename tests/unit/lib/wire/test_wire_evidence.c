// SPDX-License-Identifier: Apache-2.0
/* What was appended to the wire later: where the time went, evidence, stacks, events. */
#include "lib/wire/mp.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define WALL 1760000000000000000u
#define STACK_ID 0x1122334455667788u

enum { OLD_FIELDS = 27, ALL_FIELDS = 31, OLD_HEAD = 4 /* dc 00 1b 03 */ };

static const struct evidence_item block = {
	.start_ns = WALL + 20000000,
	.us = 1200000,
	.part = PART_IO,
	.pid = 4242,
	.tid = 4243,
	.comm = "nginx",
	.call = "fsync",
	.what = "/var/log/access.log on vda1",
	.who = "",
	.stack = STACK_ID,
};
static const struct stack_item stack = {
	STACK_ID, 1, 2, { "do_fsync+0x1a", "__x64_sys_fsync+0x2" }
};
static const struct request_item bare = {
	.app = "", .comm = "", .method = "", .path = "", .route = ""
};

static struct event_item event(void)
{
	struct event_item e = {
		.start_ns = WALL,
		.us = 1250000,
		.error_us = 100000,
		.kind = "io.slow",
		.severity = EVENT_WARNING,
		.pid = 4242,
		.tid = 4243,
		.comm = "python3",
		.reason = 27,
		.nparams = 2,
		.params = { { "call", "write", 0 }, { "bytes", NULL, 52428800 } },
		.nevidence = 1,
	};

	e.evidence[0] = block;
	return e;
}

static int decode(struct arena *a, const char *name, struct wire_body *b)
{
	struct vector v = vector_of(name);

	return wire_body_decode(a, v.b, v.len, b);
}

static bool is_vector(struct buf *b, const char *name)
{
	struct vector v = vector_of(name);
	bool same = b->len == v.len && memcmp(b->data, v.b, v.len) == 0;

	buf_reset(b);
	return same;
}

static void check_block(const struct evidence_item *e)
{
	CHECK_EQ(e->start_ns, WALL + 20000000);
	CHECK_EQ(e->us, 1200000);
	CHECK_EQ(e->part, PART_IO);
	CHECK_EQ(e->pid, 4242);
	CHECK_EQ(e->tid, 4243);
	CHECK_STR(e->comm, "nginx");
	CHECK_STR(e->call, "fsync");
	CHECK_STR(e->what, "/var/log/access.log on vda1");
	CHECK_STR(e->who, "");
	CHECK_EQ(e->stack, STACK_ID);
}

TEST(where_the_time_went_decodes_to_its_values_and_encodes_to_its_bytes)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };
	const struct request_item *r;
	struct buf f = { 0 };

	CHECK_EQ(decode(a, "request_split", &b), 0);
	CHECK_EQ(b.nrequests, 1);
	r = b.requests;
	CHECK_STR(r->path, "/users/42");
	CHECK_EQ(r->nups, 2);
	CHECK_EQ(r->nshares, 3);
	CHECK_EQ(r->shares[0].part, PART_QUEUE);
	CHECK_EQ(r->shares[1].us, 1200000);
	CHECK_EQ(r->shares[1].normal_us, 90);
	CHECK_EQ(r->shares[2].part, PART_OTHER);
	CHECK_EQ(r->shares[0].us + r->shares[1].us + r->shares[2].us, r->queue_us + r->request_us);
	CHECK_EQ(r->nchecks, 2);
	CHECK_EQ(r->checks[0].reason, 7);
	CHECK(!r->checks[0].why);
	CHECK_STR(r->checks[1].why, "no tracepoint sched_waking");
	CHECK_EQ(r->nlosses, 1);
	CHECK_EQ(r->losses[0].side, 1);
	CHECK_EQ(r->losses[0].kind, LOSS_RTO);
	CHECK_EQ(r->losses[0].count, 2);
	CHECK_EQ(r->nevidence, 1);
	check_block(r->evidence);
	wire_put_request(&f, r);
	CHECK(is_vector(&f, "request_split"));
	buf_free(&f);
}

TEST(a_request_of_the_first_form_has_none_of_it)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "request", &b), 0);
	CHECK_EQ(b.requests[0].nups, 2);
	CHECK_EQ(b.requests[0].nshares, 0);
	CHECK_EQ(b.requests[0].nchecks, 0);
	CHECK_EQ(b.requests[0].nlosses, 0);
	CHECK_EQ(b.requests[0].nevidence, 0);
}

/* As the reader of the first form does: its fields, and past the others. */
TEST(a_reader_of_the_first_form_finds_its_fields_in_the_later_one)
{
	struct vector old = vector_of("request"), now = vector_of("request_split");
	struct mp m = mp_over(now.b, now.len);

	CHECK_EQ(mp_array(&m), ALL_FIELDS);
	CHECK_EQ(mp_uint(&m), ITEM_REQUEST);
	mp_skip_n(&m, OLD_FIELDS - 1);
	CHECK_EQ(m.p - now.b, old.len);
	CHECK(memcmp(now.b + OLD_HEAD, old.b + OLD_HEAD, old.len - OLD_HEAD) == 0);
	mp_skip_n(&m, ALL_FIELDS - OLD_FIELDS);
	CHECK(!mp_bad(&m) && m.p == m.end);
}

/* It knows kinds 1 to 5; what it skips must be one sound array each, nested no deeper than it goes.
 */
TEST(a_reader_of_the_first_form_can_skip_a_stack_and_an_event)
{
	static const char *const later[] = { "stack", "event", "event_bare", "event_lasting",
					     "profile" };

	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		struct vector v = vector_of(later[i]);
		struct mp m = mp_over(v.b, v.len);

		CHECK((v.b[0] & 0xf0) == 0x90 && v.b[1] > ITEM_UNREAD);
		mp_skip(&m);
		CHECK(!mp_bad(&m) && m.p == m.end);
	}
}

TEST(what_is_empty_at_the_end_of_a_request_is_left_out)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct wire_body b = { 0 };
	struct buf f = { 0 };

	r.nlosses = 1;
	r.losses[0] = (struct loss_item){ 0, LOSS_TLP, 1 };
	wire_put_request(&f, &r);
	CHECK_EQ(f.data[2], OLD_FIELDS + 3); /* shares and checks are there, and empty */
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.requests[0].nlosses, 1);
	CHECK_EQ(b.requests[0].nchecks, 0);
	r.nlosses = 0;
	buf_reset(&f);
	wire_put_request(&f, &r);
	CHECK_EQ(f.data[2], OLD_FIELDS);
	buf_free(&f);
}

TEST(a_stack_and_an_event_decode_to_their_values_and_encode_to_their_bytes)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct event_item e = event();
	struct wire_body b = { 0 };
	struct buf f = { 0 };

	wire_put_stack(&f, &stack);
	CHECK(is_vector(&f, "stack"));
	wire_put_event(&f, &e);
	CHECK(is_vector(&f, "event"));
	CHECK_EQ(decode(a, "stack", &b), 0);
	CHECK_EQ(b.nstacks, 1);
	CHECK_EQ(b.stacks[0].id, STACK_ID);
	CHECK_EQ(b.stacks[0].flags, 1);
	CHECK_EQ(b.stacks[0].n, 2);
	CHECK_STR(b.stacks[0].frame[1], "__x64_sys_fsync+0x2");
	CHECK_EQ(decode(a, "event", &b), 0);
	CHECK_EQ(b.nevents, 1);
	CHECK_EQ(b.events[0].start_ns, WALL);
	CHECK_EQ(b.events[0].us, 1250000);
	CHECK_EQ(b.events[0].error_us, 100000);
	CHECK_STR(b.events[0].kind, "io.slow");
	CHECK_EQ(b.events[0].severity, EVENT_WARNING);
	CHECK_EQ(b.events[0].pid, 4242);
	CHECK_EQ(b.events[0].tid, 4243);
	CHECK_STR(b.events[0].comm, "python3");
	CHECK_EQ(b.events[0].reason, 27);
	CHECK_STR(b.events[0].params[0].text, "write");
	CHECK(b.events[0].params[1].number == 52428800);
	CHECK_EQ(b.events[0].nevidence, 1);
	check_block(b.events[0].evidence);
	buf_free(&f);
}

/* A full one decodes; with one more of anything it is refused. */
TEST(more_than_the_limit_of_anything_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct stack_item s = { .id = 1, .n = ITEM_MAX_FRAMES };
	struct wire_body b;
	struct buf f = { 0 };
	static const struct {
		const char *count;
		size_t len;
	} over[] = {
		{ "\xdc\0\x11", 3 }, { "\xdc\0\x20", 3 }, { "\x9a\x93", 2 }, { "\x98\x9a", 2 }
	};

	r.nshares = ITEM_MAX_SHARES;
	r.nchecks = ITEM_MAX_CHECKS;
	r.nlosses = ITEM_MAX_LOSSES;
	r.nevidence = ITEM_MAX_EVIDENCE;
	for (int i = 0; i < ITEM_MAX_EVIDENCE; i++)
		r.evidence[i] = block;
	wire_put_request(&f, &r);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.requests[0].nevidence, ITEM_MAX_EVIDENCE);
	for (size_t i = 0; i < ARRAY_SIZE(over); i++) {
		uint8_t *at = memmem(f.data, f.len, over[i].count, over[i].len);

		CHECK(at != NULL);
		at[*at == 0xdc ? 2 : 0]++;
		CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
		at[*at == 0xdc ? 2 : 0]--;
	}
	for (int i = 0; i < ITEM_MAX_FRAMES; i++)
		s.frame[i] = "f";
	buf_reset(&f);
	wire_put_stack(&f, &s);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	f.data[6]++; /* 94 06 01 00 dc 00 30 */
	buf_put(&f, "\xa1g", 2);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_free(&f);
}

TEST(a_count_in_what_was_appended_is_believed_only_if_its_bytes_are_there)
{
	static const char event[] = "\x9c\x07\x01\x01\x01\xa1x\x01\x01\x01\xa0\x01";
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;
	struct buf f = { 0 };

	CHECK_EQ(wire_body_decode(a, "\x94\x06\x01\x00\xdd\xff\xff\xff\xff", 9, &b), -EBADMSG);
	buf_put(&f, event, sizeof(event) - 1);
	buf_put(&f, "\x90\x90", 2);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	f.len -= 2;
	buf_put(&f, "\x90\xdd\x10\0\0\0", 6);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	f.len -= 6;
	buf_put(&f, "\xdd\x10\0\0\0\x90", 6);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_free(&f);
}

TEST(a_share_or_a_block_with_a_field_less_is_refused_and_with_one_more_is_not)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct wire_body b = { 0 };
	struct buf f = { 0 };

	r.nshares = 1;
	r.shares[0] = (struct share_item){ PART_CPU, 5, 6 };
	wire_put_request(&f, &r); /* it ends in 91 93 03 05 06 */
	f.data[f.len - 4] = 0x94;
	buf_put(&f, "\xa5later", 6);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.requests[0].shares[0].normal_us, 6);
	f.len -= 7;
	f.data[f.len - 3] = 0x92;
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_free(&f);
}

TEST(texts_of_evidence_are_cut_to_the_limit_when_written)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct event_item e = event();
	struct wire_body b = { 0 };
	struct buf f = { 0 };
	char longer[400];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	e.error_us = UINT64_MAX;
	e.pid = UINT32_MAX;
	e.evidence[0].call = e.evidence[0].what = e.evidence[0].who = longer;
	wire_put_event(&f, &e);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.events[0].error_us, INT64_MAX);
	CHECK_EQ(b.events[0].pid, INT32_MAX);
	CHECK_EQ(strlen(b.events[0].evidence[0].call), ITEM_MAX_NAME);
	CHECK_EQ(strlen(b.events[0].evidence[0].what), ITEM_MAX_TEXT);
	CHECK_EQ(strlen(b.events[0].evidence[0].who), ITEM_MAX_TEXT);
	buf_free(&f);
}

static struct event_item lasting(void)
{
	return (struct event_item){ .start_ns = WALL,
				    .us = 10000000,
				    .kind = "task.stuck",
				    .severity = EVENT_WARNING,
				    .pid = 4242,
				    .tid = 4243,
				    .comm = "python3",
				    .reason = 28,
				    .id = 0x123456789abcdee,
				    .update = 3,
				    .going_on = true };
}

TEST(an_ongoing_event_has_its_id_and_update_number)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct event_item e = lasting();
	struct wire_body b = { 0 };
	struct buf f = { 0 };

	CHECK_EQ(decode(a, "event_lasting", &b), 0);
	CHECK_EQ(b.events[0].id, e.id);
	CHECK_EQ(b.events[0].update, 3);
	CHECK(b.events[0].going_on);
	wire_put_event(&f, &e);
	CHECK(is_vector(&f, "event_lasting"));
	e.going_on = false;
	e.id = UINT64_MAX;
	wire_put_event(&f, &e);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.events[0].id, INT64_MAX);
	CHECK(!b.events[0].going_on);
	buf_free(&f);
}

TEST(an_event_of_the_first_form_has_no_update_number)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "event", &b), 0);
	CHECK_EQ(b.events[0].id, 0);
	CHECK_EQ(b.events[0].update, 0);
	CHECK(!b.events[0].going_on);
}

/* Of a probe that appends less. */
TEST(an_update_without_a_number_is_the_first_and_over)
{
	static const uint8_t less[] = { 2, 1 }; /* fields, and bytes: told and going_on */
	struct vector v = vector_of("event_lasting");

	for (uint32_t i = 0; i < ARRAY_SIZE(less); i++) {
		AUTO(arena_free) struct arena *a = arena_new(1 << 20);
		struct wire_body b = { 0 };

		v.b[0] = (uint8_t)(0x9f - less[i]);
		CHECK_EQ(wire_body_decode(a, v.b, v.len - less[i], &b), 0);
		CHECK_EQ(b.events[0].id, lasting().id);
		CHECK_EQ(b.events[0].update, less[i] == 2 ? 1 : 3);
		CHECK(!b.events[0].going_on);
	}
}

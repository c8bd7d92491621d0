// SPDX-License-Identifier: Apache-2.0
#include "probe/request/red/red_item.h"
#include "tests/lib/test.h"

#define SEC 1000000000ull

struct reported {
	uint32_t n, others;
	uint64_t count, judged, excess_us;
};

/* Flushes, and collects what was sent for a role. */
static struct reported flush(struct red *r, uint8_t role, bool all)
{
	AUTO(arena_free) struct arena *a = arena_new(4 << 20);
	struct sink s = { 0 };
	struct wire_body b = { 0 };
	struct reported t = { 0 };

	red_flush(r, &s, all);
	CHECK_EQ(wire_body_decode(a, s.metric.data, s.metric.len, &b), 0);
	for (uint32_t i = 0; i < b.nreds; i++) {
		const struct red_item *q = &b.reds[i];

		if (q->role != role)
			continue;
		t.n++;
		t.others += strcmp(role == RED_SERVED ? q->peer : q->route, "(other)") == 0;
		t.count += q->count;
		t.judged += q->judged;
		t.excess_us += q->excess_us;
	}
	buf_free(&s.metric);
	return t;
}

static void count(struct red *r, uint8_t role, const char *name, uint8_t class, uint64_t us)
{
	static uint64_t now;
	const struct red_key k = { .app = "nginx",
				   .route = role == RED_SERVED ? "" : name,
				   .peer = role == RED_SERVED ? name : ":80",
				   .role = role,
				   .status_class = class,
				   .failed = class == 5 };

	now += SEC / 100;
	red_count(r, &k, us, now);
}

static void count_many(struct red *r, uint8_t role, const char *prefix, uint32_t n)
{
	char name[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		count(r, role, name, 2, 100);
	}
}

TEST(each_status_class_is_counted_and_sent_separately)
{
	AUTO(red_free) struct red *r = red_new();
	struct reported t;

	count(r, RED_SERVER, "/", 2, 100);
	count(r, RED_SERVER, "/", 2, 100);
	count(r, RED_SERVER, "/", 5, 100);
	t = flush(r, RED_SERVER, true);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.count, 3);
	CHECK_EQ(flush(r, RED_SERVER, true).n, 0);
}

TEST(new_keys_are_sent_at_once_and_known_ones_with_a_full_flush)
{
	AUTO(red_free) struct red *r = red_new();

	count(r, RED_SERVER, "/", 2, 100);
	CHECK_EQ(flush(r, RED_SERVER, false).n, 1);
	count(r, RED_SERVER, "/", 2, 100);
	CHECK_EQ(flush(r, RED_SERVER, false).n, 0);
	count(r, RED_SERVER, "/", 4, 100); /* a new status class */
	CHECK_EQ(flush(r, RED_SERVER, false).n, 1);
	CHECK_EQ(flush(r, RED_SERVER, true).count, 1);
}

TEST(excess_is_learnt_by_key_across_classes_from_successful_requests)
{
	AUTO(red_free) struct red *r = red_new();
	struct reported t;

	for (int i = 0; i < 400; i++)
		count(r, RED_OWN, "/", 5, 1000000);
	CHECK_EQ(flush(r, RED_OWN, true).judged, 0);
	for (uint32_t i = 0; i < 400; i++)
		count(r, RED_OWN, "/", 2, 1000 + i % 7 * 10);
	t = flush(r, RED_OWN, true);
	CHECK_EQ(t.judged, 300);
	CHECK_EQ(t.excess_us, 0);
	count(r, RED_OWN, "/", 2, 1020);
	count(r, RED_OWN, "/", 2, 51000);
	count(r, RED_OWN, "/", 5, 101000);
	t = flush(r, RED_OWN, true);
	CHECK_EQ(t.judged, 3);
	CHECK(t.excess_us > 149000 && t.excess_us < 150000);
}

TEST(at_most_256_clients_are_counted_and_the_others_together)
{
	AUTO(red_free) struct red *r = red_new();
	struct reported t;

	count_many(r, RED_SERVED, "10.0.0.", 1000);
	t = flush(r, RED_SERVED, true);
	CHECK_EQ(t.n, 257);
	CHECK_EQ(t.others, 1);
	CHECK_EQ(t.count, 1000);
	flush(r, RED_SERVED, true); /* no client came */
	count_many(r, RED_SERVED, "10.0.1.", 256);
	t = flush(r, RED_SERVED, true);
	CHECK_EQ(t.n, 256);
	CHECK_EQ(t.others, 0);
	CHECK_EQ(red_overflow(r), 0);
}

TEST(a_regular_client_is_not_displaced_by_others)
{
	AUTO(red_free) struct red *r = red_new();
	char prefix[16];
	struct reported t = { 0 };

	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 20; j++)
			count(r, RED_SERVED, "here", 2, 100);
		snprintf(prefix, sizeof(prefix), "10.%d.0.", i);
		count_many(r, RED_SERVED, prefix, 200);
		flush(r, RED_SERVED, false); /* new keys, then all */
		count(r, RED_SERVED, "here", 2, 100);
		t = flush(r, RED_SERVED, true);
	}
	CHECK(t.judged > 0);
}

TEST(requests_of_keys_that_cannot_be_learnt_are_counted)
{
	AUTO(red_free) struct red *r = red_new();

	for (int i = 0; i < 10; i++) /* ten requests each: not learnt yet */
		count_many(r, RED_SERVER, "/", 1100);
	CHECK_EQ(red_unjudged(r), 0);
	count_many(r, RED_SERVER, "/", 1100);
	CHECK_EQ(red_unjudged(r), 100);
	CHECK_EQ(flush(r, RED_SERVER, true).count, 12100);
}

/* The excess of the last of 100 such requests. */
static uint64_t excess_of(uint8_t role, const struct request_item *last, const struct up_item *peer)
{
	const struct up_item usual = { .addr = peer->addr, .response_us = 2000 };
	AUTO(red_free) struct red *r = red_new();
	struct request_item q = *last;

	for (int i = 0; i < 200; i++) {
		q.request_us = 3000;
		red_item_request(r, &q, &usual, 0, (uint64_t)(i + 1) * SEC);
	}
	flush(r, role, true);
	red_item_request(r, last, peer, 0, 300 * SEC);
	return flush(r, role, true).excess_us;
}

TEST(a_wait_by_another_protocol_counts_for_the_peer_and_not_as_own_time)
{
	const struct up_item peer = { .addr = { .ip = { 10, 0, 0, 3 }, .port = 5432, .len = 4 },
				      .response_us = 102000 };
	const struct request_item q = {
		.app = "shop", .route = "/", .status = 200, .request_us = 103000
	};
	AUTO(red_free) struct red *r = red_new();
	struct reported t;

	red_item_request(r, &q, &peer, 0, SEC);
	t = flush(r, RED_WAITED, true);
	CHECK_EQ(t.n, 1);
	CHECK_EQ(t.count, 1);
	CHECK(excess_of(RED_SERVER, &q, &peer) > 99000);
	CHECK(excess_of(RED_WAITED, &q, &peer) > 99000);
	CHECK_EQ(excess_of(RED_OWN, &q, &peer), 0);
	red_item_request(r, &q, NULL, 0, SEC);
	CHECK_EQ(flush(r, RED_WAITED, true).count, 0);
}

TEST(routes_beyond_three_quarters_of_the_table_are_counted_as_other)
{
	AUTO(red_free) struct red *r = red_new();
	struct reported t;

	count_many(r, RED_SERVER, "/", 3000);
	t = flush(r, RED_SERVER, true);
	CHECK_EQ(t.n, 1537);
	CHECK_EQ(t.others, 1);
	CHECK_EQ(t.count, 3000);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/event/ongoing_event.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

TEST(it_is_reported_at_once_then_after_half_a_minute_then_at_doubled_intervals)
{
	static const uint64_t want[] = { 0, 30, 90, 210, 450, 930, 1530, 2130 };
	struct ongoing_event l = { 0 };
	uint32_t n = 0;

	CHECK(!ongoing_event_due(&l, 0));
	ongoing_event_begin(&l, "io.stall", "sda", 5 * SECOND, 1000);
	for (uint64_t t = 0; t <= 2200; t++) {
		struct event_item e = { 0 };

		if (!ongoing_event_due(&l, (5 + t) * SECOND))
			continue;
		CHECK(n < ARRAY_SIZE(want) && t == want[n]);
		ongoing_event_report(&l, (5 + t) * SECOND, true, &e);
		CHECK_EQ(e.update, ++n);
		CHECK_EQ(e.us, t * 1000000);
		CHECK_EQ(e.start_ns, 1000);
		CHECK(e.going_on && e.id == l.id);
	}
	CHECK_EQ(n, ARRAY_SIZE(want));
}

TEST(its_end_is_reported_and_then_nothing_is_ongoing)
{
	struct ongoing_event l = { 0 };
	struct event_item first = { 0 }, last = { 0 };

	ongoing_event_begin(&l, "io.stall", "sda", 0, 1000);
	ongoing_event_report(&l, 0, true, &first);
	ongoing_event_report(&l, 7 * SECOND, false, &last);
	CHECK_EQ(last.id, first.id);
	CHECK_EQ(last.update, 2);
	CHECK_EQ(last.us, 7000000);
	CHECK(!last.going_on);
	CHECK_EQ(l.id, 0);
	CHECK(!ongoing_event_due(&l, 100 * SECOND));
}

TEST(concurrent_events_and_the_next_one_have_different_ids)
{
	struct ongoing_event a, b, c;

	ongoing_event_begin(&a, "io.stall", "sda", 0, 1000);
	ongoing_event_begin(&b, "io.stall", "sdb", 0, 1000);
	ongoing_event_begin(&c, "io.stall", "sda", 0, 1001);
	CHECK(a.id != b.id && a.id != c.id && b.id != c.id);
	CHECK(a.id <= INT64_MAX && a.id != 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/engine/incident_engine.h"

/* Times are seconds of the region's data. */
static bool waits_at(struct signal *g, int64_t at_s, bool relayed, bool reports_full)
{
	const struct engine e = { .reports_full = reports_full };
	const struct engine_region r = { .now_us = (1000000 + at_s) * INCIDENT_SEC,
					 .relayed = relayed };

	return engine_waits_for_region(&e, g, &r);
}

TEST(a_signal_of_the_own_region_is_opened_at_once)
{
	struct signal g = { 0 };

	CHECK(!waits_at(&g, 0, false, false));
}

TEST(a_region_that_relays_has_twenty_seconds_to_report_it)
{
	struct signal g = { 0 };

	for (int t = 0; t < 20; t += 5)
		CHECK(waits_at(&g, t, true, false));
	CHECK(!waits_at(&g, 20, true, false));
	CHECK(!waits_at(&g, 25, true, false));
	CHECK(waits_at(&g, 30, true, true)); /* there are more reports to import */
}

TEST(counts_that_come_every_ten_seconds_wait_no_longer)
{
	struct signal g = { 0 };

	CHECK(waits_at(&g, 3, true, false));
	CHECK(waits_at(&g, 13, true, false));
	CHECK(!waits_at(&g, 23, true, false));
}

TEST(a_fault_soon_after_continues_the_same_wait)
{
	for (int after = 1; after <= 15; after++) {
		struct signal g = { 0 };

		CHECK(waits_at(&g, 0, true, false));
		CHECK(waits_at(&g, after, true, false));
	}
}

TEST(a_later_fault_starts_a_new_wait)
{
	for (int after = 16; after < 600; after++) {
		struct signal g = { 0 };

		CHECK(waits_at(&g, 0, true, false));
		CHECK(waits_at(&g, 5, true, false)); /* then the region reports it */
		CHECK(waits_at(&g, 5 + after, true, false));
		CHECK(waits_at(&g, 20 + after, true, false));
		CHECK(!waits_at(&g, 25 + after, true, false));
	}
}

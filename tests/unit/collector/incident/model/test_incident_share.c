// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "collector/incident/model/incident_share.h"
#include "tests/lib/test.h"

enum { MOST = 8 };

struct scene {
	struct incident of;
	struct signal signal[MOST];
	struct signal *list[MOST];
	struct share_host host[MOST];
	int nhosts;
};

static void has(struct scene *s, uint64_t node, const char *class)
{
	struct signal *g = &s->signal[s->of.nsignals];

	g->node = node;
	snprintf(g->class, sizeof(g->class), "%s", class);
	s->list[s->of.nsignals++] = g;
	s->of.signal = s->list;
}

static void ranked(struct scene *s, uint64_t node, double own, double edge)
{
	s->host[s->nhosts++] = (struct share_host){ node, own, edge };
}

static struct incident_share share(const struct scene *s, double nodes)
{
	struct incident_share out;

	incident_share(&s->of, s->host, s->nhosts, nodes, &out);
	return out;
}

TEST(two_hosts_of_a_small_region_that_wait_for_a_disk_as_long_share_it)
{
	struct scene s = { 0 };

	has(&s, 1, "io");
	has(&s, 2, "io");
	has(&s, 3, "up");
	ranked(&s, 1, 262, 17);
	ranked(&s, 2, 166, 1);
	CHECK_STR(share(&s, 4).class, "io");
	CHECK_EQ(share(&s, 4).hosts, 2);
	CHECK(share(&s, 4).even);
	CHECK_EQ(share(&s, 100).hosts, 0);
}

TEST(one_that_has_most_of_it_is_named_though_another_has_the_same)
{
	struct scene s = { 0 };

	has(&s, 1, "io");
	has(&s, 2, "io");
	ranked(&s, 1, 300, 0);
	ranked(&s, 2, 100, 0);
	CHECK(!share(&s, 4).even);
	CHECK_EQ(share(&s, 4).hosts, 2); /* said where none is clear */
}

TEST(hosts_that_have_as_much_by_different_causes_share_nothing)
{
	struct scene s = { 0 };

	has(&s, 1, "io");
	has(&s, 2, "lock");
	ranked(&s, 1, 100, 0);
	ranked(&s, 2, 90, 0);
	CHECK_EQ(share(&s, 4).hosts, 0);
}

TEST(ways_to_three_hosts_that_became_as_slow_are_the_network_of_the_region)
{
	struct scene s = { 0 };

	has(&s, 1, "up");
	has(&s, 2, "net");
	ranked(&s, 1, 2, 23);
	ranked(&s, 2, 0, 21);
	CHECK(!share(&s, 4).even);
	ranked(&s, 3, 0, 20);
	CHECK_STR(share(&s, 4).class, "net");
	CHECK_EQ(share(&s, 4).hosts, 3);
	CHECK(share(&s, 4).even);
}

TEST(three_hosts_that_took_as_long_themselves_by_no_common_cause_are_no_network)
{
	struct scene s = { 0 };

	for (uint64_t node = 1; node <= 3; node++)
		ranked(&s, node, 20, 1);
	CHECK_EQ(share(&s, 4).hosts, 0);
}

TEST(who_has_no_probe_is_not_counted)
{
	struct scene s = { 0 };

	has(&s, 1, "io");
	ranked(&s, 1, 20, 0);
	ranked(&s, 0, 0, 20);
	ranked(&s, 0, 0, 20);
	CHECK_EQ(share(&s, 4).hosts, 0);
}

TEST(a_class_that_three_hosts_have_is_said_where_none_stands_out)
{
	struct scene s = { 0 };

	has(&s, 1, "cpu");
	has(&s, 2, "cpu");
	has(&s, 3, "cpu");
	has(&s, 1, "unknown");
	CHECK_STR(share(&s, 100).class, "cpu");
	CHECK_EQ(share(&s, 100).hosts, 3);
	CHECK(!share(&s, 100).even);
}

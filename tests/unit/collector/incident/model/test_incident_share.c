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

static void add_signal(struct scene *s, uint64_t node, const char *class)
{
	struct signal *g = &s->signal[s->of.nsignals];

	g->node = node;
	snprintf(g->class, sizeof(g->class), "%s", class);
	s->list[s->of.nsignals++] = g;
	s->of.signal = s->list;
}

static void add_candidate(struct scene *s, uint64_t node, double own, double edge)
{
	s->host[s->nhosts++] = (struct share_host){ node, own, edge };
}

static struct incident_share find_shared(const struct scene *s, double nodes)
{
	struct incident_share out;

	incident_share(&s->of, s->host, s->nhosts, nodes, &out);
	return out;
}

TEST(two_hosts_of_a_small_region_that_wait_equally_for_a_disk_share_it)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "io");
	add_signal(&s, 2, "io");
	add_signal(&s, 3, "up");
	add_candidate(&s, 1, 262, 17);
	add_candidate(&s, 2, 166, 1);
	CHECK_STR(find_shared(&s, 4).class, "io");
	CHECK_EQ(find_shared(&s, 4).hosts, 2);
	CHECK(find_shared(&s, 4).even);
	CHECK_EQ(find_shared(&s, 100).hosts, 0);
}

TEST(a_host_with_most_of_a_class_is_named_although_another_has_it)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "io");
	add_signal(&s, 2, "io");
	add_candidate(&s, 1, 300, 0);
	add_candidate(&s, 2, 100, 0);
	CHECK(!find_shared(&s, 4).even);
	CHECK_EQ(find_shared(&s, 4).hosts, 2); /* reported if no host is clear */
}

TEST(equal_hosts_with_different_classes_share_nothing)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "io");
	add_signal(&s, 2, "lock");
	add_candidate(&s, 1, 100, 0);
	add_candidate(&s, 2, 90, 0);
	CHECK_EQ(find_shared(&s, 4).hosts, 0);
}

TEST(equally_slow_ways_to_three_hosts_are_the_network_of_the_region)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "up");
	add_signal(&s, 2, "net");
	add_candidate(&s, 1, 2, 23);
	add_candidate(&s, 2, 0, 21);
	CHECK(!find_shared(&s, 4).even);
	add_candidate(&s, 3, 0, 20);
	CHECK_STR(find_shared(&s, 4).class, "net");
	CHECK_EQ(find_shared(&s, 4).hosts, 3);
	CHECK(find_shared(&s, 4).even);
}

TEST(three_hosts_slow_on_their_own_without_a_common_class_are_no_network)
{
	struct scene s = { 0 };

	for (uint64_t node = 1; node <= 3; node++)
		add_candidate(&s, node, 20, 1);
	CHECK_EQ(find_shared(&s, 4).hosts, 0);
}

TEST(a_host_without_a_probe_is_not_counted)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "io");
	add_candidate(&s, 1, 20, 0);
	add_candidate(&s, 0, 0, 20);
	add_candidate(&s, 0, 0, 20);
	CHECK_EQ(find_shared(&s, 4).hosts, 0);
}

TEST(a_class_of_three_hosts_is_reported_if_none_stands_out)
{
	struct scene s = { 0 };

	add_signal(&s, 1, "cpu");
	add_signal(&s, 2, "cpu");
	add_signal(&s, 3, "cpu");
	add_signal(&s, 1, "unknown");
	CHECK_STR(find_shared(&s, 100).class, "cpu");
	CHECK_EQ(find_shared(&s, 100).hosts, 3);
	CHECK(!find_shared(&s, 100).even);
}

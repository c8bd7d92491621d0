// SPDX-License-Identifier: Apache-2.0
#include "collector/access/own_keys.h"

#include "tests/fake/place.h"
#include "tests/lib/test.h"

static char err[512], key[KEY_TEXT];

static int open_here(struct own_keys *k)
{
	return own_keys_open(k, place(), err, sizeof(err));
}

static bool is_public(const char *wanted, unsigned n)
{
	struct key_list l = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/collector.pub", place());
	return keys_read(path, &l, err, sizeof(err)) == 0 && l.n == n && keys_has(&l, wanted);
}

TEST(a_collector_makes_its_key_and_publishes_it)
{
	struct own_keys k = { 0 }, again = { 0 };

	place_clean();
	CHECK_EQ(open_here(&k), 0);
	CHECK(is_public(k.pair.public, 1));
	CHECK_STR(k.next, "");
	CHECK_EQ(place_run("rm collector.pub"), 0);
	CHECK_EQ(open_here(&again), 0);
	CHECK_STR(again.pair.public, k.pair.public);
	CHECK(is_public(k.pair.public, 1));
	place_clean();
}

TEST(a_next_key_is_seen_while_the_collector_runs_and_used_after_rotation)
{
	struct own_keys k = { 0 }, after = { 0 };

	place_clean();
	CHECK_EQ(open_here(&k), 0);
	CHECK_EQ(own_keys_rotate(place(), key, err, sizeof(err)), -ENOENT);
	CHECK_EQ(own_keys_prepare(place(), key, err, sizeof(err)), 0);
	CHECK(is_public(k.pair.public, 2) && is_public(key, 2));
	own_keys_look(&k);
	CHECK_STR(k.next, key);
	{
		char same[KEY_TEXT];

		CHECK_EQ(own_keys_prepare(place(), same, err, sizeof(err)), 0);
		CHECK_STR(same, key);
	}
	CHECK_EQ(own_keys_rotate(place(), key, err, sizeof(err)), 0);
	CHECK_STR(k.next, key);
	CHECK(is_public(key, 1));
	CHECK_EQ(open_here(&after), 0);
	CHECK_STR(after.pair.public, key);
	CHECK_STR(after.next, "");
	place_clean();
}

TEST(a_next_key_without_a_first_one_is_refused)
{
	place_clean();
	CHECK_EQ(place_run("true"), 0);
	CHECK_EQ(own_keys_prepare(place(), key, err, sizeof(err)), -ENOENT);
	CHECK(strstr(err, "cannot read the key in"));
	place_clean();
}

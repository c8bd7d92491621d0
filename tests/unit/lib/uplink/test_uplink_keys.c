// SPDX-License-Identifier: Apache-2.0
#include <zmq.h>

#include "lib/base/hash.h"
#include "tests/fake/place.h"
#include "tests/fake/play.h"

#define OTHER_KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static void refuse(struct play *s, uint8_t why)
{
	wire_refused_encode(
		&s->c.frame,
		&(struct wire_refused){ hash_node_id(NODE), spool_epoch(s->spool), why, "n2" });
	play_say(&s->c);
}

static void send_keys(struct play *s, const char *collector, bool rotate, const char *taken)
{
	wire_keys_encode(&s->c.frame,
			 &(struct wire_keys){ hash_node_id(NODE), spool_epoch(s->spool), collector,
					      rotate, taken });
	play_say(&s->c);
}

TEST(a_node_that_is_refused_keeps_what_it_has_and_asks_again_until_it_is_let_in)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 3, 10);
	UNTIL(&s, s.c.hellos == 1);
	refuse(&s, WHY_UNKNOWN_KEY);
	play_settle(&s);
	CHECK_EQ(s.c.hellos, 1);
	CHECK_EQ(uplink_stat(s.u).opened, 1);
	clock_set_ns(1002 * SEC);
	UNTIL(&s, s.c.hellos == 2);
	CHECK_EQ(spool_batches(s.spool), 3);
	play_welcome(&s, 0, 0);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 3);
	play_close(&s);
}

TEST(a_collector_with_another_key_gets_nothing)
{
	static struct play s;

	play_open(&s, 1 << 20);
	s.keys.collectors = (struct key_list){ 0 };
	keys_add(&s.keys.collectors, OTHER_KEY);
	uplink_close(s.u);
	play_again(&s);
	play_settle(&s);
	play_settle(&s);
	CHECK_EQ(s.c.n, 0);
	play_close(&s);
}

TEST(of_the_keys_that_are_trusted_each_is_tried)
{
	static struct play s;

	play_open(&s, 1 << 20);
	s.keys.collectors = (struct key_list){ 0 };
	keys_add(&s.keys.collectors, OTHER_KEY);
	keys_add(&s.keys.collectors, s.c.key.public);
	uplink_close(s.u);
	play_again(&s);
	play_settle(&s);
	CHECK_EQ(s.c.hellos, 0);
	clock_set_ns(1001 * SEC);
	UNTIL(&s, s.c.hellos == 1);
	play_close(&s);
}

TEST(a_collector_that_is_not_there_or_does_not_answer_is_left_for_the_next)
{
	static struct play s;
	char there[ENDPOINT_TEXT];

	play_open(&s, 1 << 20);
	UNTIL(&s, s.c.hellos == 1);
	memcpy(there, s.at.at[0], sizeof(there));
	snprintf(s.at.at[1], ENDPOINT_TEXT, "%s", there);
	snprintf(s.at.at[2], ENDPOINT_TEXT, "tcp://127.0.0.1:1");
	s.at.n = 3;
	clock_set_ns(1004 * SEC); /* no WELCOME came */
	play_turn(&s);
	CHECK_EQ(uplink_stat(s.u).opened, 2);
	for (uint64_t t = 1005; t < 1020 && s.c.hellos < 3; t++) {
		clock_set_ns(t * SEC);
		play_settle(&s);
	}
	CHECK(s.c.hellos >= 3); /* past the one where nobody is */
	play_close(&s);
}

TEST(a_next_key_of_the_collector_is_trusted_beside_the_one_of_now)
{
	static struct play s;

	play_open(&s, 1 << 20);
	place_clean();
	CHECK_EQ(place_run("true"), 0);
	snprintf(s.keys.dir, sizeof(s.keys.dir), "%s", place());
	play_meet(&s);
	send_keys(&s, OTHER_KEY, false, "");
	UNTIL(&s, s.keys.collectors.n == 2);
	CHECK(keys_has(&s.keys.collectors, OTHER_KEY) &&
	      keys_has(&s.keys.collectors, s.c.key.public));
	CHECK(uplink_up(s.u));
	play_close(&s);
	place_clean();
}

TEST(a_node_rotates_its_key_on_request_without_losing_a_batch)
{
	static struct play s;
	char next[KEY_TEXT];

	play_open(&s, 1 << 20);
	place_clean();
	CHECK_EQ(place_run("true"), 0);
	snprintf(s.keys.dir, sizeof(s.keys.dir), "%s", place());
	play_append(&s, STREAM_EVENT, 3, 10);
	play_meet(&s);
	send_keys(&s, "", true, "");
	UNTIL(&s, s.c.hellos == 2);
	CHECK(key_is_text(s.c.next_key));
	CHECK_STR(s.c.next_key, s.keys.next.public);
	memcpy(next, s.c.next_key, KEY_TEXT);
	play_welcome(&s, 1, 0);
	UNTIL(&s, uplink_up(s.u));
	send_keys(&s, "", true, OTHER_KEY); /* not the one that was asked for */
	play_settle(&s);
	CHECK_EQ(s.c.peers, 1);
	send_keys(&s, "", true, next);
	UNTIL(&s, s.c.peers == 2);
	CHECK_STR(s.keys.own.public, next);
	CHECK_STR(s.c.next_key, "");
	CHECK_EQ(spool_batches(s.spool), 2);
	play_welcome(&s, 1, 0);
	UNTIL(&s, uplink_up(s.u));
	play_close(&s);
	place_clean();
}

TEST(a_change_of_key_that_cannot_be_written_is_left)
{
	static struct play s;

	play_open(&s, 1 << 20);
	snprintf(s.keys.dir, sizeof(s.keys.dir), "/proc/nowhere");
	play_meet(&s);
	send_keys(&s, "", true, "");
	play_settle(&s);
	CHECK_EQ(s.c.hellos, 1);
	CHECK(uplink_up(s.u));
	play_close(&s);
}

TEST(what_is_said_of_keys_for_another_node_or_epoch_is_ignored)
{
	static struct play s;
	struct wire_keys k = { hash_node_id("n2"), 0, OTHER_KEY, true, "" };
	struct wire_refused r = { hash_node_id(NODE), 77, WHY_REVOKED, "" };

	play_open(&s, 1 << 20);
	play_meet(&s);
	wire_keys_encode(&s.c.frame, &k);
	play_say(&s.c);
	wire_refused_encode(&s.c.frame, &r);
	play_say(&s.c);
	UNTIL(&s, uplink_stat(s.u).ignored == 2);
	CHECK(uplink_up(s.u));
	CHECK_EQ(s.keys.collectors.n, 1);
	play_close(&s);
}

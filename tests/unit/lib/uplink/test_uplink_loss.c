// SPDX-License-Identifier: Apache-2.0
#include <zmq.h>

#include "tests/fake/play.h"

TEST(when_acks_stay_away_for_3_s_a_new_socket_says_hello_and_goes_on_behind_the_mark)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 4, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 4);
	clock_set_ns(1002 * SEC);
	play_settle(&s);
	CHECK_EQ(s.c.peers, 1);
	clock_set_ns(1003 * SEC + 1);
	UNTIL(&s, s.c.hellos == 2);
	CHECK_EQ(s.c.peers, 2);
	CHECK(!uplink_up(s.u));
	play_welcome(&s, 3, 0); /* three of them had been stored, and only the acks were lost */
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 5);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 4);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 4);
	UNTIL(&s, spool_batches(s.spool) == 0);
	play_close(&s);
}

TEST(patience_doubles_while_it_is_in_vain_and_is_short_again_after_an_ack)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, s.c.hellos == 1);
	clock_set_ns(1003 * SEC);
	UNTIL(&s, s.c.hellos == 2);
	clock_set_ns(1008 * SEC);
	play_settle(&s);
	CHECK_EQ(s.c.hellos, 2);
	clock_set_ns(1009 * SEC);
	UNTIL(&s, s.c.hellos == 3);
	play_welcome(&s, 0, 0);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 1);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 1);
	UNTIL(&s, spool_batches(s.spool) == 0);
	play_append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 2);
	clock_set_ns(1012 * SEC);
	UNTIL(&s, s.c.hellos == 4);
	play_close(&s);
}

TEST(a_quiet_probe_waits_for_no_ack)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_meet(&s);
	clock_set_ns(2000 * SEC);
	play_settle(&s);
	CHECK(uplink_up(s.u));
	CHECK_EQ(s.c.hellos, 1);
	play_append(&s, STREAM_EVENT, 1,
		    10); /* patience begins now, not when there was nothing to ack */
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 1);
	play_settle(&s);
	CHECK_EQ(s.c.hellos, 1);
	play_close(&s);
}

TEST(a_collector_that_was_restarted_is_found_and_gets_what_it_has_not_stored)
{
	static struct play s;
	uint32_t before;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 5, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 5);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 2);
	UNTIL(&s, spool_batches(s.spool) == 3);
	zmq_close(s.c.router);
	s.c.router = NULL;
	for (int i = 0; i < 400 && uplink_up(s.u); i++) {
		play_append(&s, STREAM_EVENT, 1, 10); /* a send finds that nobody is there */
		play_turn(&s);
		usleep(5000);
	}
	CHECK(!uplink_up(s.u));
	before = s.c.n;
	play_bind(&s.c);
	UNTIL(&s, s.c.hellos == 2);
	play_welcome(&s, 2, 0);
	UNTIL(&s, s.c.n > before + 1);
	CHECK_EQ(s.c.seen[before + 1].seq, 3);
	CHECK_EQ(s.fresh, 0);
	play_close(&s);
}

TEST(a_collector_that_knows_more_than_there_was_makes_the_probe_go_on_under_a_new_epoch)
{
	static struct play s;
	uint64_t epoch;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 2, 10);
	epoch = spool_epoch(s.spool);
	UNTIL(&s, s.c.hellos == 1);
	play_welcome(&s, 7, 0);
	UNTIL(&s, s.c.hellos == 2);
	CHECK(s.c.seen[s.c.n - 1].epoch != epoch);
	CHECK_EQ(s.c.seen[s.c.n - 1].epoch, spool_epoch(s.spool));
	play_welcome(&s, 0, 0);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 2);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 2);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 99);
	UNTIL(&s, s.c.hellos == 3);
	play_close(&s);
}

TEST(a_collector_that_has_forgotten_this_probe_gets_its_sources_again)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 2, 10);
	play_meet(&s);
	CHECK_EQ(s.fresh, 0); /* what it does not know yet is still in the first batch */
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 2);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 2);
	UNTIL(&s, spool_batches(s.spool) == 0);
	play_welcome(&s, 0, 0);
	UNTIL(&s, s.fresh == 1);
	play_append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 3);
	CHECK_EQ(s.c.seen[s.c.n - 1].seq, 3);
	CHECK_EQ(s.c.seen[s.c.n - 1].base,
		 3); /* and so the collector knows what it will never get */
	play_close(&s);
}

static int log_lines(const char *what)
{
	static FILE *file;
	static int err = -1;
	char line[512];
	int n = 0;

	if (!what) {
		file = tmpfile();
		err = dup(STDERR_FILENO);
		dup2(fileno(file), STDERR_FILENO);
		return 0;
	}
	dup2(err, STDERR_FILENO);
	close(err);
	rewind(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, what) != NULL;
	fclose(file);
	return n;
}

TEST(a_collector_that_greets_and_does_not_store_is_not_called_back)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 1, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 1);
	log_lines(NULL);
	for (uint32_t i = 2; i < 6; i++) {
		clock_set_ns((1000 + 40 * i) * SEC);
		UNTIL(&s, s.c.hellos == i);
		play_welcome(&s, 0, 0);
		UNTIL(&s, play_count(&s.c, WIRE_BATCH) == i);
	}
	CHECK_EQ(log_lines("is back"), 0);
	log_lines(NULL);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 1);
	UNTIL(&s, spool_batches(s.spool) == 0);
	CHECK_EQ(log_lines("is back"), 1);
	play_close(&s);
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The contiguous rule, over a collector that loses batches, acks and itself. */
static void store(struct play *s, uint64_t mark[STREAM_END], uint32_t *from, uint64_t *seed)
{
	for (; *from < s->c.n; ++*from) {
		const struct seen *e = &s->c.seen[*from];

		if (e->type == WIRE_HELLO) {
			play_welcome(s, mark[STREAM_EVENT], mark[STREAM_METRIC]);
			continue;
		}
		if (rnd(seed) % 4 == 0)
			continue; /* lost on its way */
		if (e->seq == mark[e->stream] + 1)
			mark[e->stream]++;
		else if (e->seq > mark[e->stream])
			play_mark(s, WIRE_NACK, e->stream, mark[e->stream]);
		if (rnd(seed) % 3)
			play_mark(s, WIRE_ACK, e->stream, mark[e->stream]);
	}
	if (s->c.n > MAX_SEEN / 2)
		s->c.n = *from = 0;
}

TEST(everything_arrives_however_much_is_lost)
{
	static struct play s;
	uint64_t mark[STREAM_END] = { 0 }, seed = 42, now = 1000 * SEC;
	uint32_t from = 0;

	play_open(&s, 8 << 20);
	play_append(&s, STREAM_EVENT, 150, 100);
	play_append(&s, STREAM_METRIC, 150, 100);
	for (int i = 0; i < 4000 && spool_batches(s.spool); i++) {
		now += SEC / 20;
		clock_set_ns(now);
		play_turn(&s);
		store(&s, mark, &from, &seed);
		usleep(1000);
	}
	CHECK_EQ(mark[STREAM_EVENT], 150);
	CHECK_EQ(mark[STREAM_METRIC], 150);
	CHECK_EQ(spool_batches(s.spool), 0);
	CHECK(uplink_stat(s.u).rewinds > 0);
	play_close(&s);
}

TEST(a_collector_whose_database_was_restored_gets_the_sources_again)
{
	static struct play s;

	play_open(&s, 1 << 20);
	play_append(&s, STREAM_EVENT, 3, 10);
	play_meet(&s);
	UNTIL(&s, play_count(&s.c, WIRE_BATCH) == 3);
	play_mark(&s, WIRE_ACK, STREAM_EVENT, 3);
	UNTIL(&s, spool_batches(s.spool) == 0);
	play_welcome(&s, 3, 0);
	play_append(&s, STREAM_EVENT, 1, 10);
	UNTIL(&s,
	      play_count(&s.c, WIRE_BATCH) >= 4); /* again, if it went before the welcome came */
	;
	CHECK_EQ(s.fresh, 0);
	play_welcome(&s, 1, 0); /* what its backup had */
	UNTIL(&s, s.fresh == 1);
	play_close(&s);
}

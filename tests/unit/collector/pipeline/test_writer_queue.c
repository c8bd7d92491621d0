// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <poll.h>
#include <pthread.h>

#include "collector/core/counters.h"
#include "collector/pipeline/writer_queue.h"

static bool rings(const struct writer_queue *l)
{
	struct pollfd p = { .fd = writer_queue_note_fd(l), .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

TEST(work_comes_out_in_order_and_then_the_end)
{
	AUTO(writer_queue_free) struct writer_queue *l = writer_queue_new();
	struct work *w;

	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(writer_queue_send(l, work_new(WORK_LOAD, i, 0)), 0);
	writer_queue_close(l);
	CHECK(writer_queue_closed(l));
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(writer_queue_take(l, 0, &w), 0);
		CHECK_EQ(w->node, i);
		work_free(w);
	}
	CHECK_EQ(writer_queue_take(l, 0, &w), -EPIPE);
}

TEST(a_full_queue_has_no_room_and_refuses)
{
	AUTO(writer_queue_free) struct writer_queue *l = writer_queue_new();
	int sent = 0, with_room = 0, r;

	for (;;) {
		struct work *w = work_new(WORK_LOAD, 1, 1);

		with_room += writer_queue_room(l);
		r = writer_queue_send(l, w);
		if (r < 0) {
			work_free(w);
			break;
		}
		sent++;
	}
	CHECK_EQ(r, -EAGAIN);
	CHECK(sent > with_room); /* the last places are reserved for other work */
}

TEST(bytes_of_batches_are_bounded_too)
{
	AUTO(writer_queue_free) struct writer_queue *l = writer_queue_new();
	uint64_t before = counter_get(C_QUEUE_BYTES);
	struct work *w = work_new(WORK_BATCH, 1, 1);

	w->batch = batch_new();
	zmq_msg_init_size(&w->batch->body, 17 << 20);
	CHECK(writer_queue_room(l));
	CHECK_EQ(writer_queue_send(l, w), 0);
	CHECK(!writer_queue_room(l));
	CHECK_EQ(writer_queue_take(l, 0, &w), 0);
	CHECK(!writer_queue_room(l)); /* the writer still has it */
	writer_queue_done(w);
	CHECK(writer_queue_room(l));
	CHECK_EQ(counter_get(C_QUEUE_BYTES), before);
	work_free(w);
}

TEST(a_note_keeps_the_descriptor_readable_until_it_is_cleared)
{
	AUTO(writer_queue_free) struct writer_queue *l = writer_queue_new();
	struct note n = { .kind = NOTE_STORED, .node = 3 };

	CHECK(!rings(l));
	writer_queue_note(l, &n);
	CHECK(rings(l));
	writer_queue_clear_signal(l);
	CHECK(!rings(l));
	n.node = 0;
	CHECK(writer_queue_take_note(l, &n));
	CHECK_EQ(n.node, 3);
	CHECK(!writer_queue_take_note(l, &n));
}

static void *echo(void *arg)
{
	struct writer_queue *l = arg;
	struct work *w;

	while (writer_queue_take(l, 1000, &w) == 0) {
		writer_queue_note(l, &(struct note){ .kind = NOTE_STORED, .node = w->node });
		writer_queue_done(w);
		work_free(w);
	}
	return NULL;
}

TEST(two_threads_lose_nothing)
{
	enum { N = 20000 };
	AUTO(writer_queue_free) struct writer_queue *l = writer_queue_new();
	uint64_t sent = 0, heard = 0, sum = 0;
	struct note n;
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, echo, l), 0);
	while (heard < N) {
		struct work *w = sent < N ? work_new(WORK_LOAD, sent, 0) : NULL;

		if (w && writer_queue_send(l, w) == 0)
			sent++;
		else
			work_free(w);
		writer_queue_clear_signal(l);
		while (writer_queue_take_note(l, &n)) {
			heard++;
			sum += n.node;
		}
	}
	writer_queue_close(l);
	pthread_join(t, NULL);
	CHECK_EQ(sum, (uint64_t)N * (N - 1) / 2);
	CHECK_EQ(counter_get(C_NOTES_LOST), 0);
}

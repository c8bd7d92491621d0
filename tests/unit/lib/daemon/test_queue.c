// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <time.h>

#include "lib/daemon/queue.h"
#include "tests/lib/test.h"

static int numbers[100000];

TEST(what_is_pushed_is_popped_in_order)
{
	AUTO(queue_free) struct queue *q = queue_new(3);
	void *p = NULL;

	for (int round = 0; round < 5; round++) { /* around the end of the ring */
		CHECK_EQ(queue_push(q, &numbers[0]), 0);
		CHECK_EQ(queue_push(q, &numbers[1]), 0);
		CHECK_EQ(queue_depth(q), 2);
		for (int i = 0; i < 2; i++) {
			CHECK_EQ(queue_pop(q, 1000, &p), 0);
			CHECK(p == &numbers[i]);
		}
	}
	CHECK_EQ(queue_depth(q), 0);
}

TEST(a_full_queue_refuses_at_once_and_counts_it)
{
	AUTO(queue_free) struct queue *q = queue_new(2);
	void *p;

	CHECK_EQ(queue_push(q, &numbers[0]), 0);
	CHECK_EQ(queue_push(q, &numbers[1]), 0);
	CHECK_EQ(queue_push(q, &numbers[2]), -EAGAIN);
	CHECK_EQ(queue_push(q, &numbers[2]), -EAGAIN);
	CHECK_EQ(queue_refused(q), 2);
	CHECK_EQ(queue_depth(q), 2);
	CHECK_EQ(queue_pop(q, 0, &p), 0);
	CHECK_EQ(queue_push(q, &numbers[2]), 0);
	CHECK_EQ(queue_refused(q), 2);
}

TEST(an_empty_queue_makes_its_reader_wait_so_long_and_no_longer)
{
	AUTO(queue_free) struct queue *q = queue_new(1);
	void *p = &numbers[7];
	struct timespec a, b;

	CHECK_EQ(queue_pop(q, 0, &p), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &a);
	CHECK_EQ(queue_pop(q, 30, &p), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &b);
	CHECK((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 >= 29);
	CHECK(p == &numbers[7]); /* untouched on failure */
}

TEST(a_closed_queue_takes_nothing_and_gives_what_it_has)
{
	AUTO(queue_free) struct queue *q = queue_new(2);
	void *p;

	CHECK_EQ(queue_push(q, &numbers[0]), 0);
	queue_close(q);
	CHECK_EQ(queue_push(q, &numbers[1]), -EPIPE);
	CHECK_EQ(queue_refused(q), 0);
	CHECK_EQ(queue_pop(q, 1000, &p), 0);
	CHECK(p == &numbers[0]);
	CHECK_EQ(queue_pop(q, 1000, &p), -EPIPE);
}

struct reader {
	struct queue *q;
	size_t got;
	bool in_order;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	void *p;
	int e;

	while ((e = queue_pop(r->q, 10, &p)) != -EPIPE) {
		if (e < 0)
			continue;
		r->in_order &= p == &numbers[r->got];
		r->got++;
	}
	return NULL;
}

TEST(between_two_threads_nothing_is_lost_doubled_or_turned_around)
{
	AUTO(queue_free) struct queue *q = queue_new(16);
	struct reader r = { .q = q, .in_order = true };
	uint64_t refused = 0;
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, read_all, &r), 0);
	for (size_t i = 0; i < ARRAY_SIZE(numbers);) {
		if (queue_push(q, &numbers[i]) == 0)
			i++;
		else
			refused++;
	}
	queue_close(q);
	pthread_join(t, NULL);
	CHECK_EQ(r.got, ARRAY_SIZE(numbers));
	CHECK(r.in_order);
	CHECK_EQ(queue_refused(q), refused);
}

TEST(closing_wakes_a_reader_that_waits)
{
	AUTO(queue_free) struct queue *q = queue_new(1);
	struct reader r = { .q = q, .in_order = true };
	struct timespec pause = { .tv_nsec = 5000000 };
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, read_all, &r), 0);
	nanosleep(&pause, NULL);
	queue_close(q);
	pthread_join(t, NULL); /* or the test does not end */
	CHECK_EQ(r.got, 0);
}

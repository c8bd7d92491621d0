// SPDX-License-Identifier: Apache-2.0
#include <sys/eventfd.h>
#include <zmq.h>

#include "lib/daemon/loop.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

enum { MS = 1000000 };

struct seen {
	struct loop *loop;
	int fd, calls, stop_after, r;
	uint64_t forward_ns; /* turn the clock on at each call */
	void *sock, *next;
};

static int note(void *arg)
{
	struct seen *s = arg;

	s->calls++;
	if (s->forward_ns)
		clock_set_ns(clock_mono_ns() + s->forward_ns);
	if (s->calls == s->stop_after)
		loop_stop(s->loop);
	return s->r;
}

TEST(a_watch_is_called_as_long_as_there_is_something_to_read)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen s = { .loop = l, .stop_after = 3 };

	loop_add_fd(l, fd, note, &s);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(s.calls, 3);
}

TEST(an_error_of_a_watch_or_a_timer_ends_the_loop_with_it)
{
	AUTO(loop_free) struct loop *l = loop_new(), *t = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen bad = { .r = -EPROTO }, good = { .forward_ns = 10 * MS };

	loop_add_fd(l, fd, note, &bad);
	CHECK_EQ(loop_run(l), -EPROTO);
	CHECK_EQ(bad.calls, 1);
	clock_set_ns(0);
	loop_add_fd(t, fd, note, &good);
	loop_add_timer(t, 5, note, &bad);
	CHECK_EQ(loop_run(t), -EPROTO);
	CHECK_EQ(bad.calls, 2);
}

TEST(a_timer_runs_when_it_is_due_and_not_before)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen turn = { .forward_ns = 10 * MS, .loop = l, .stop_after = 100 };
	struct seen often = { .loop = l }, seldom = { .loop = l };

	clock_set_ns(0);
	loop_add_fd(l, fd, note, &turn);
	loop_add_timer(l, 20, note, &often);
	loop_add_timer(l, 500, note, &seldom);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(often.calls, 50);
	CHECK_EQ(seldom.calls, 2);
}

/* How often the loop went round until the slow one had run four times. */
TEST(timers_whose_periods_divide_one_another_are_due_together)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen turn = { .forward_ns = 7 * MS, .loop = l, .stop_after = 1000 };
	struct seen often = { .loop = l }, seldom = { .loop = l, .stop_after = 4 };

	clock_set_ns(1234567);
	loop_add_fd(l, fd, note, &turn);
	loop_add_timer(l, 100, note, &often);
	clock_set_ns(33 * MS); /* added at another time */
	loop_add_timer(l, 500, note, &seldom);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(seldom.calls, 4);
	CHECK_EQ(often.calls, 20);
	CHECK(clock_mono_ns() < 2007 * (uint64_t)MS);
}

/* A timer that takes long, another that is due with it, and a watch that must not wait for both. */
TEST(after_a_long_timer_the_watches_come_before_the_other_timers)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen turn = { .forward_ns = 10 * MS, .loop = l };
	struct seen slow = { .loop = l, .forward_ns = 25 * MS };
	struct seen other = { .loop = l, .forward_ns = 25 * MS, .stop_after = 1 };

	clock_set_ns(0);
	loop_add_fd(l, fd, note, &turn);
	loop_add_timer(l, 100, note, &slow);
	loop_add_timer(l, 100, note, &other);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(slow.calls, 1);
	CHECK_EQ(other.calls, 1);
	CHECK_EQ(turn.calls, 11);
	CHECK_EQ(loop_take_longest(l).ns, 35 * MS);
}

struct changing {
	struct loop *loop;
	int timer, calls;
	uint64_t at[4];
};

static int change(void *arg)
{
	struct changing *c = arg;

	c->at[c->calls++] = clock_mono_ns();
	loop_set_timer(c->loop, c->timer, c->calls == 1 ? 500 : 50);
	if (c->calls == 4)
		loop_stop(c->loop);
	return 0;
}

TEST(a_timer_may_change_its_own_period)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen turn = { .forward_ns = 10 * MS, .loop = l };
	struct changing c = { .loop = l };

	clock_set_ns(0);
	loop_add_fd(l, fd, note, &turn);
	c.timer = loop_add_timer(l, 50, change, &c);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(c.at[0], 50ull * MS);
	CHECK_EQ(c.at[1], 500ull * MS);
	CHECK_EQ(c.at[2], 550ull * MS);
	CHECK_EQ(c.at[3], 600ull * MS);
}

TEST(a_muted_fd_is_not_called_until_it_may_be_again)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0), other = eventfd(1, 0);
	struct seen muted = { .loop = l };
	struct seen turn = { .loop = l, .stop_after = 10 };

	loop_add_fd(l, fd, note, &muted);
	loop_add_fd(l, other, note, &turn);
	loop_mute_fd(l, fd, true);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(muted.calls, 0);
	loop_mute_fd(l, fd, false);
	turn.stop_after = 20;
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(muted.calls, 10);
}

TEST(a_clock_that_jumps_does_not_make_a_timer_run_for_each_missed_time)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen turn = { .forward_ns = 3600000ull * MS, .loop = l, .stop_after = 2 };
	struct seen tick = { .loop = l };

	clock_set_ns(0);
	loop_add_fd(l, fd, note, &turn);
	loop_add_timer(l, 1, note, &tick);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(tick.calls, 2);
}

/* Another socket takes the place of the one that is being read. */
static int swap(void *arg)
{
	struct seen *s = arg;
	char b;

	while (zmq_recv(s->sock, &b, 1, ZMQ_DONTWAIT) >= 0)
		s->calls++;
	if (s->next) {
		loop_swap_zmq(s->loop, s->sock, s->next);
		s->sock = s->next;
		s->next = NULL;
	}
	if (s->calls == s->stop_after)
		loop_stop(s->loop);
	return 0;
}

TEST(a_swapped_socket_goes_on_with_the_watch_of_the_old_one)
{
	AUTO(loop_free) struct loop *l = loop_new();
	void *zmq = zmq_ctx_new(), *in[2], *out[2];
	struct seen s = { .loop = l, .stop_after = 2 };

	for (int i = 0; i < 2; i++) {
		in[i] = zmq_socket(zmq, ZMQ_PAIR);
		out[i] = zmq_socket(zmq, ZMQ_PAIR);
		CHECK_EQ(zmq_bind(in[i], i ? "inproc://b" : "inproc://a"), 0);
		CHECK_EQ(zmq_connect(out[i], i ? "inproc://b" : "inproc://a"), 0);
		CHECK_EQ(zmq_send(out[i], "x", 1, 0), 1);
	}
	s.sock = in[0];
	s.next = in[1];
	loop_add_zmq(l, in[0], swap, &s);
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(s.calls, 2);
	CHECK(s.sock == in[1]);
	for (int i = 0; i < 2; i++) {
		zmq_close(in[i]);
		zmq_close(out[i]);
	}
	zmq_ctx_term(zmq);
}

TEST(the_longest_turn_is_remembered_until_it_is_taken)
{
	AUTO(loop_free) struct loop *l = loop_new();
	AUTO_CLOSE int fd = eventfd(1, 0);
	struct seen s = { .loop = l, .stop_after = 1, .forward_ns = 70 * MS };

	clock_set_ns(1000 * MS);
	loop_add_fd(l, fd, note, &s);
	CHECK_EQ(loop_run(l), 0);
	s.forward_ns = 0;
	s.stop_after = 2;
	CHECK_EQ(loop_run(l), 0);
	CHECK_EQ(loop_take_longest(l).ns, 70 * MS);
	CHECK_EQ(loop_take_longest(l).ns, 0);
}

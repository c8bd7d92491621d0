// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/loop.h"

#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

enum { MAX_WATCH = 128, MAX_TIMER = 64 };
#define TIMERS_NS 20000000ull /* in one turn: other timers that are due wait for the next */

struct watch {
	int fd; /* -1: a socket of ZeroMQ */
	loop_fn *fn;
	void *arg;
};

struct timer {
	uint64_t every_ns, due_ns;
	loop_fn *fn;
	void *arg;
};

struct loop {
	zmq_pollitem_t item[MAX_WATCH];
	struct watch watch[MAX_WATCH];
	struct timer timer[MAX_TIMER];
	int nwatch, ntimer;
	int first; /* the timer that the next turn begins with */
	bool stop;
	struct loop_turn longest;
};

struct loop *loop_new(void)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		die("out of memory");
	return l;
}

void loop_free(struct loop *l)
{
	free(l);
}

static void add_watch(struct loop *l, void *sock, int fd, loop_fn *fn, void *arg)
{
	if (l->nwatch == MAX_WATCH)
		die("loop: more than %d watches", MAX_WATCH);
	l->item[l->nwatch] = (zmq_pollitem_t){ .socket = sock, .fd = fd, .events = ZMQ_POLLIN };
	l->watch[l->nwatch++] = (struct watch){ fd, fn, arg };
}

void loop_add_zmq(struct loop *l, void *sock, loop_fn *fn, void *arg)
{
	add_watch(l, sock, -1, fn, arg);
}

/* Clears revents: the old socket's events do not apply to the new one. Callbacks may call this. */
void loop_swap_zmq(struct loop *l, void *old, void *sock)
{
	for (int i = 0; i < l->nwatch; i++) {
		if (l->item[i].socket != old)
			continue;
		l->item[i].socket = sock;
		l->item[i].revents = 0;
	}
}

void loop_add_fd(struct loop *l, int fd, loop_fn *fn, void *arg)
{
	add_watch(l, NULL, fd, fn, arg);
}

/* zmq_poll skips fd -1; with events = 0 it would still report errors. */
void loop_mute_fd(struct loop *l, int fd, bool mute)
{
	for (int i = 0; i < l->nwatch; i++) {
		if (l->watch[i].fd != fd)
			continue;
		l->item[i].fd = mute ? -1 : fd;
		l->item[i].revents = 0;
	}
}

int loop_add_timer(struct loop *l, uint64_t every_ms, loop_fn *fn, void *arg)
{
	uint64_t every = every_ms * 1000000u;

	if (l->ntimer == MAX_TIMER)
		die("loop: more than %d timers", MAX_TIMER);
	l->timer[l->ntimer] = (struct timer){ every, clock_next(clock_mono_ns(), every), fn, arg };
	return l->ntimer++;
}

void loop_set_timer(struct loop *l, int timer, uint64_t every_ms)
{
	struct timer *t = &l->timer[timer];

	t->every_ns = every_ms * 1000000u;
	t->due_ns = clock_next(clock_mono_ns(), t->every_ns);
}

static long wait_ms(const struct loop *l)
{
	uint64_t now = clock_mono_ns(), due = UINT64_MAX;

	for (int i = 0; i < l->ntimer; i++)
		if (l->timer[i].due_ns < due)
			due = l->timer[i].due_ns;
	if (due == UINT64_MAX)
		return -1;
	return due <= now ? 0 : (long)((due - now + 999999u) / 1000000u);
}

static int run_timers(struct loop *l)
{
	uint64_t now = clock_mono_ns();
	int first = l->first;

	l->first = 0;
	for (int i = 0; i < l->ntimer; i++) {
		int at = (first + i) % l->ntimer;
		struct timer *t = &l->timer[at];
		int r;

		if (t->due_ns > now)
			continue;
		if (clock_mono_ns() - now > TIMERS_NS) {
			l->first = at;
			return 0;
		}
		t->due_ns = clock_next(now, t->every_ns);
		r = t->fn(t->arg);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run_watches(struct loop *l)
{
	for (int i = 0; i < l->nwatch && !l->stop; i++) {
		int r = l->item[i].revents ? l->watch[i].fn(l->watch[i].arg) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int run_turn(struct loop *l)
{
	uint64_t began = clock_mono_ns(), began_cpu = clock_cpu_ns();
	int r = run_watches(l);

	if (r >= 0)
		r = run_timers(l);
	l->longest.ns = later_of(l->longest.ns, clock_mono_ns() - began);
	l->longest.cpu_ns = later_of(l->longest.cpu_ns, clock_cpu_ns() - began_cpu);
	return r;
}

struct loop_turn loop_take_longest(struct loop *l)
{
	struct loop_turn longest = l->longest;

	l->longest = (struct loop_turn){ 0 };
	return longest;
}

int loop_run(struct loop *l)
{
	l->stop = false;
	while (!l->stop) {
		int r = zmq_poll(l->item, l->nwatch, wait_ms(l));

		if (r < 0 && errno != EINTR)
			return -errno;
		r = r < 0 ? 0 : run_turn(l);
		if (r < 0)
			return r;
	}
	return 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

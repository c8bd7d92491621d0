// SPDX-License-Identifier: Apache-2.0
/*
 * loop.h - the one event loop of a process: zmq sockets, fds and timers.
 *
 * zmq_poll accepts both kinds, so the edge-triggered ZMQ_FD is not needed.
 * A callback returns 0 to continue, < 0 to end the loop with that error.
 */
#pragma once

#include "lib/base/base.h"

struct loop;
typedef int loop_fn(void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *l);

void loop_add_zmq(struct loop *l, void *sock, loop_fn *fn, void *arg);
void loop_swap_zmq(struct loop *l, void *old, void *sock); /* moves old's watch to sock */
void loop_add_fd(struct loop *l, int fd, loop_fn *fn, void *arg);
void loop_mute_fd(struct loop *l, int fd, bool mute); /* keeps the watch without calling it */

/*
 * Fires at multiples of its period, so that timers whose periods divide one another share wakeups.
 * Where those that are due take longer than 20 ms, the others run after the watches were served.
 * Returns the timer's number.
 */
int loop_add_timer(struct loop *l, uint64_t every_ms, loop_fn *fn, void *arg);
void loop_set_timer(struct loop *l, int timer, uint64_t every_ms); /* also from its own callback */

/* From one wait to the next. */
struct loop_turn {
	uint64_t ns, cpu_ns; /* the longest by the clock, and in CPU time of the thread */
};

struct loop_turn loop_take_longest(struct loop *l); /* since the last call */

int loop_run(struct loop *l); /* until loop_stop, or an error */
void loop_stop(struct loop *l);

DEFINE_AUTO(struct loop *, loop_free)

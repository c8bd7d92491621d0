// SPDX-License-Identifier: Apache-2.0
/*
 * accept_guard.h - closes the listening socket while the process is out of file descriptors.
 *
 * When accept() fails for lack of a descriptor, libzmq's thread and the console's thread retry
 * without a pause and take the processor from honest clients. While the guard is shut, the kernel
 * drops new connections, a thread with a descriptor table of its own accepts and closes those that
 * are waiting, and some descriptors stay reserved for the console and the database. Everything but
 * that thread runs in the loop's thread.
 */
#pragma once

#include "lib/base/base.h"

struct accept_guard;

int accept_guard_open(struct accept_guard **out, int listening_fd) MUST_CHECK;
void accept_guard_close(struct accept_guard *d); /* NULL is fine */
void accept_guard_shut(struct accept_guard *d); /* accept() failed */
void accept_guard_look(struct accept_guard *d); /* every second: opens again if it can */

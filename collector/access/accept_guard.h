// SPDX-License-Identifier: Apache-2.0
/*
 * accept_guard.h - the listening socket is shut while there is no descriptor for who connects.
 *
 * libzmq's thread tries over and over to take a connection that it has no descriptor for, and so
 * does the console's: the honest get what processor they leave. Here the kernel drops what
 * connects, a thread with a table of descriptors of its own takes and ends those that wait, and
 * some descriptors are held back for the console and the database. All but that is of the loop's
 * thread.
 */
#pragma once

#include "lib/base/base.h"

struct accept_guard;

int accept_guard_open(struct accept_guard **out, int listening_fd) MUST_CHECK;
void accept_guard_close(struct accept_guard *d); /* NULL is fine */
void accept_guard_shut(struct accept_guard *d); /* a connection could not be taken */
void accept_guard_look(struct accept_guard *d); /* every second: may it open again? */

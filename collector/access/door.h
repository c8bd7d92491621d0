// SPDX-License-Identifier: Apache-2.0
/*
 * door.h - the listening socket is shut while there is no descriptor for who connects.
 *
 * libzmq's thread tries over and over to take a connection that it has no descriptor for, and so
 * does the console's: the honest get what processor they leave. Here the kernel drops what
 * connects, a thread with a table of descriptors of its own takes and ends those that wait, and
 * some descriptors are held back for the console and the database. All but that is of the loop's
 * thread.
 */
#pragma once

#include "lib/base/base.h"

struct door;

int door_open(struct door **out, int listening_fd) MUST_CHECK;
void door_close(struct door *d); /* NULL is fine */
void door_shut(struct door *d); /* a connection could not be taken */
void door_look(struct door *d); /* every second: may it open again? */

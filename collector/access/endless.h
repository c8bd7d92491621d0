// SPDX-License-Identifier: Apache-2.0
/*
 * endless.h - a connection whose message does not end is cut, and one that is silent.
 *
 * libzmq keeps the frames of a message until its last one is there, as many as come: without this,
 * whoever knows the collector's key could fill its memory. Frames have a limit (router.c), and of
 * what was received on a connection without one whole message the kernel knows how much it is. A
 * probe says something every few seconds; who brought no whole message for half a minute is no
 * probe, or one that stands still and comes again.
 */
#pragma once

#include "lib/base/base.h"

struct endless;

struct endless *endless_new(int listening_fd);
void endless_free(struct endless *e); /* NULL is fine */
void endless_heard(struct endless *e, int fd); /* a message came whole, by this connection */
void endless_look(struct endless *e); /* a few times in a second */

DEFINE_AUTO(struct endless *, endless_free)

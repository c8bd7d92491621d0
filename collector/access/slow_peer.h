// SPDX-License-Identifier: Apache-2.0
/*
 * slow_peer.h - a connection whose message does not end is cut, and one that is silent.
 *
 * libzmq keeps the frames of a message until its last one is there, as many as come: without this,
 * whoever knows the collector's key could fill its memory. Frames have a limit (router.c), and of
 * what was received on a connection without one whole message the kernel knows how much it is. A
 * probe says something every few seconds; who brought no whole message for half a minute is no
 * probe, or one that stands still and comes again.
 */
#pragma once

#include "lib/base/base.h"

struct slow_peer;

struct slow_peer *slow_peer_new(int listening_fd);
void slow_peer_free(struct slow_peer *e); /* NULL is fine */
void slow_peer_heard(struct slow_peer *e, int fd); /* a message came whole, by this connection */
void slow_peer_look(struct slow_peer *e); /* a few times in a second */

DEFINE_AUTO(struct slow_peer *, slow_peer_free)

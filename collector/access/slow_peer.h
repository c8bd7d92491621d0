// SPDX-License-Identifier: Apache-2.0
/*
 * slow_peer.h - cuts a connection whose message does not end (slowloris), and a silent one.
 *
 * libzmq keeps the frames of a message until its last frame arrives, without a limit: a client that
 * knows the collector's key could fill its memory. Frames have a limit (router.c), and the kernel
 * knows how many bytes a connection received since its last whole message. A probe sends something
 * every few seconds; a connection without a whole message for half a minute is no probe, or a probe
 * that hangs and will connect again.
 */
#pragma once

#include "lib/base/base.h"

struct slow_peer;

struct slow_peer *slow_peer_new(int listening_fd);
void slow_peer_free(struct slow_peer *e); /* NULL is fine */
void slow_peer_heard(struct slow_peer *e, int fd); /* a whole message came by this connection */
void slow_peer_look(struct slow_peer *e); /* a few times a second */

DEFINE_AUTO(struct slow_peer *, slow_peer_free)

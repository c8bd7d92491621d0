// SPDX-License-Identifier: Apache-2.0
/*
 * gate.h - who may connect (ZAP, rfc.zeromq.org/spec/27), and what became of those who tried.
 *
 * Every connection proves a CURVE key. One that was revoked is refused; any other comes in, with
 * its key as its name, since a new node must be able to say who it is: receive.h takes nothing but
 * a HELLO of it. Handshakes that failed are counted by cause. Open it before the first router.
 */
#pragma once

#include "lib/base/base.h"

#define GATE_DOMAIN "seismo"

struct door;
struct gate;
struct key_pair;
struct roster;

/* NULL: errno. Without a roster (a trial) nobody is known, and so nobody revoked. */
struct gate *gate_open(void *zmq, struct roster *roster);
void gate_close(struct gate *g); /* NULL is fine */

void *gate_socket(const struct gate *g); /* for the loop, with gate_answer */
int gate_answer(void *gate);
/* What becomes of connections to this router is counted from now on, and the door told; -errno. */
int gate_watch(struct gate *g, void *router, struct door *door) MUST_CHECK;
void *gate_events(const struct gate *g); /* for the loop, with gate_count */
int gate_count(void *gate);

/*
 * That libzmq keeps its word: on a port of its own, the right key comes in with its name, a wrong
 * one and none at all do not. -EPERM, with a sentence.
 */
int gate_try(const struct key_pair *own, char *err, size_t errlen) MUST_CHECK;

DEFINE_AUTO(struct gate *, gate_close)

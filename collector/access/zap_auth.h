// SPDX-License-Identifier: Apache-2.0
/*
 * zap_auth.h - who may connect (ZAP, rfc.zeromq.org/spec/27), and what became of those who tried.
 *
 * Every connection proves a CURVE key. One that was revoked is refused; any other comes in, with
 * its key as its name, since a new node must be able to say who it is: receive.h takes nothing but
 * a HELLO of it. Handshakes that failed are counted by cause. Open it before the first router.
 */
#pragma once

#include "lib/base/base.h"

#define GATE_DOMAIN "seismo"

struct accept_guard;
struct zap_auth;
struct key_pair;
struct key_registry;

/* NULL: errno. Without a roster (a trial) nobody is known, and so nobody revoked. */
struct zap_auth *zap_auth_open(void *zmq, struct key_registry *roster);
void zap_auth_close(struct zap_auth *g); /* NULL is fine */

void *zap_auth_socket(const struct zap_auth *g); /* for the loop, with zap_auth_answer */
int zap_auth_answer(void *gate);
/* What becomes of connections to this router is counted from now on, and the door told; -errno. */
int zap_auth_watch(struct zap_auth *g, void *router, struct accept_guard *door) MUST_CHECK;
void *zap_auth_events(const struct zap_auth *g); /* for the loop, with zap_auth_count */
int zap_auth_count(void *gate);

/*
 * That libzmq keeps its word: on a port of its own, the right key comes in with its name, a wrong
 * one and none at all do not. -EPERM, with a sentence.
 */
int zap_auth_try(const struct key_pair *own, char *err, size_t errlen) MUST_CHECK;

DEFINE_AUTO(struct zap_auth *, zap_auth_close)

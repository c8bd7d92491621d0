// SPDX-License-Identifier: Apache-2.0
/*
 * zap_auth.h - authenticates connections (ZAP, rfc.zeromq.org/spec/27) and counts failed
 * handshakes.
 *
 * Every connection proves a CURVE key. A revoked key is refused. Any other key is let in under its
 * own name, because a new node must be able to send HELLO; receive.h accepts nothing else of it.
 * Failed handshakes are counted by cause. Open it before the first router.
 */
#pragma once

#include "lib/base/base.h"

#define GATE_DOMAIN "seismo"

struct accept_guard;
struct zap_auth;
struct key_pair;
struct key_registry;

/* NULL: see errno. Without a registry (the self-test) no key is known, and so none is revoked. */
struct zap_auth *zap_auth_open(void *zmq, struct key_registry *registry);
void zap_auth_close(struct zap_auth *g); /* NULL is fine */

void *zap_auth_socket(const struct zap_auth *g); /* for the loop, with zap_auth_answer */
int zap_auth_answer(void *gate);
/* Counts the router's connections from now on and reports accept() failures to the guard; -errno.
 */
int zap_auth_watch(struct zap_auth *g, void *router, struct accept_guard *door) MUST_CHECK;
void *zap_auth_events(const struct zap_auth *g); /* for the loop, with zap_auth_count */
int zap_auth_count(void *gate);

/*
 * Self-test on a port of its own: libzmq lets the right key in under its name, and refuses a wrong
 * key and a connection without one. -EPERM with a sentence if it does not.
 */
int zap_auth_try(const struct key_pair *own, char *err, size_t errlen) MUST_CHECK;

DEFINE_AUTO(struct zap_auth *, zap_auth_close)

// SPDX-License-Identifier: Apache-2.0
/* zap_selftest.c - checks on a port of its own that libzmq refuses wrong keys, before any client
 * may connect. */
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/uplink/keys.h"
#include "collector/access/zap_auth.h"
#include "collector/access/router.h"

enum { CLIENTS = 3, PATIENCE_MS = 5000, GRACE_MS = 100 };

#define MS 1000000ull

struct trial {
	void *zmq;
	struct zap_auth *auth;
	struct router *router;
	struct key_pair key[CLIENTS], wrong; /* of each client, and one that is not the router's */
	void *client[CLIENTS]; /* the right key, a wrong one, none */
	bool came[CLIENTS];
	bool unknown; /* a connection without a key came in */
};

static int connect_client(struct trial *t, int i, const char *server, const char *endpoint)
{
	int zero = 0;

	t->client[i] = zmq_socket(t->zmq, ZMQ_DEALER);
	if (!t->client[i])
		return -errno;
	zmq_setsockopt(t->client[i], ZMQ_LINGER, &zero, sizeof(zero));
	if (server &&
	    (zmq_setsockopt(t->client[i], ZMQ_CURVE_SERVERKEY, server, KEY_TEXT) < 0 ||
	     zmq_setsockopt(t->client[i], ZMQ_CURVE_PUBLICKEY, t->key[i].public, KEY_TEXT) < 0 ||
	     zmq_setsockopt(t->client[i], ZMQ_CURVE_SECRETKEY, t->key[i].secret, KEY_TEXT) < 0))
		return -errno;
	if (zmq_connect(t->client[i], endpoint) < 0 ||
	    zmq_send(t->client[i], "?", 1, ZMQ_DONTWAIT) < 0)
		return -errno;
	return 0;
}

static int open_trial(struct trial *t, const struct key_pair *own, char *err, size_t errlen)
{
	char endpoint[64];
	size_t len = sizeof(endpoint);
	int r = keys_make(&t->wrong, err, errlen);

	for (int i = 0; i < CLIENTS && r == 0; i++)
		r = keys_make(&t->key[i], err, errlen);
	if (r < 0)
		return r;
	t->auth = zap_auth_open(t->zmq, NULL);
	t->router = t->auth ? router_open(t->zmq, -1, "tcp://127.0.0.1:*", own) : NULL;
	if (!t->router ||
	    zmq_getsockopt(router_socket(t->router), ZMQ_LAST_ENDPOINT, endpoint, &len) < 0)
		r = -errno;
	if (r == 0)
		r = connect_client(t, 0, own->public, endpoint);
	if (r == 0)
		r = connect_client(t, 1, t->wrong.public, endpoint);
	if (r == 0)
		r = connect_client(t, 2, NULL, endpoint);
	if (r < 0)
		snprintf(err, errlen, "cannot try the keys on a port of 127.0.0.1: %s",
			 strerror(-r));
	return r;
}

static void close_trial(struct trial *t)
{
	for (int i = 0; i < CLIENTS; i++)
		if (t->client[i])
			zmq_close(t->client[i]);
	router_close(t->router);
	zap_auth_close(t->auth);
	zmq_ctx_term(t->zmq);
}

static void receive_clients(struct trial *t)
{
	struct sender from;
	zmq_msg_t frame[2];

	zmq_msg_init(&frame[0]);
	zmq_msg_init(&frame[1]);
	while (router_recv(t->router, &from, frame) > 0) {
		t->unknown |= !from.key;
		for (int i = 0; i < CLIENTS && from.key; i++)
			t->came[i] |= strcmp(from.key, t->key[i].public) == 0;
	}
	zmq_msg_close(&frame[0]);
	zmq_msg_close(&frame[1]);
}

static void wait_for_clients(struct trial *t)
{
	uint64_t until = clock_mono_ns() + PATIENCE_MS * MS, now;
	bool grace = false;

	while ((now = clock_mono_ns()) < until) {
		zmq_pollitem_t p[2] = {
			{ .socket = zap_auth_socket(t->auth), .events = ZMQ_POLLIN },
			{ .socket = router_socket(t->router), .events = ZMQ_POLLIN },
		};

		zmq_poll(p, 2, (long)((until - now) / MS) + 1);
		if (p[0].revents)
			(void)!zap_auth_answer(t->auth);
		if (p[1].revents)
			receive_clients(t);
		if (t->came[0] && !grace) {
			grace = true;
			until = clock_mono_ns() + GRACE_MS * MS;
		}
	}
}

int zap_auth_try(const struct key_pair *own, char *err, size_t errlen)
{
	struct trial t = { .zmq = router_context() };
	int r = open_trial(&t, own, err, errlen);

	if (r == 0) {
		wait_for_clients(&t);
		if (!t.came[0] || t.came[1] || t.came[2] || t.unknown) {
			r = -EPERM;
			snprintf(err, errlen,
				 "this libzmq %s: install Debian's libzmq5; the collector does not "
				 "run without authentication",
				 t.came[0] ? "accepts a connection with a wrong key or none"
					   : "refuses the right key");
		}
	}
	close_trial(&t);
	return r;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/access/router.h"

#include <sys/random.h>

#include "lib/base/log.h"
#include "lib/wire/wire.h"
#include "collector/core/counters.h"
#include "collector/access/slow_peer.h"
#include "collector/access/zap_auth.h"

enum {
	PEER_HWM = 128, /* messages per probe in libzmq's memory: twice a window */
	CURVE_EXTRA = 33, /* that CURVE adds to a frame, and libzmq counts with it */
	HANDSHAKE_MS = 10000, /* who connects and is silent is cut */
	IO_THREADS = 2, /* of libzmq, which shake hands: a millisecond each */
	ALIVE_IDLE_S = 30, /* then the kernel asks whether a silent peer is still there, */
	ALIVE_AGAIN_S = 10,
	ALIVE_ASKED = 3, /* so often */
	FAREWELL_MS = 300,
};

/* From zmq.h, where it is among the drafts: no connection without a word of the gate. */
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#endif

struct router {
	void *sock;
	struct slow_peer *endless;
};

/* libzmq 4.3.4 never seeds rand(): a peer that guesses the next routing id can abort this process.
 */
static void seed(void)
{
	unsigned v;

	if (getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
		die("no random numbers from the kernel");
	srand(v);
}

static int set(void *sock, int option, int value)
{
	return zmq_setsockopt(sock, option, &value, sizeof(value));
}

static int secure(void *sock, const struct key_pair *own)
{
	int r = set(sock, ZMQ_CURVE_SERVER, 1);

	r |= zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, own->secret, KEY_TEXT);
	r |= zmq_setsockopt(sock, ZMQ_ZAP_DOMAIN, GATE_DOMAIN, strlen(GATE_DOMAIN));
	r |= set(sock, ZMQ_ZAP_ENFORCE_DOMAIN, 1);
	return r;
}

/*
 * No heartbeats from here: libzmq looks through the timers of all connections for the one that a
 * heartbeat's answer ends, which for some thousand nodes is most of what its thread does. Those of
 * the probes remain: one that falls silent is cut after the minute that it names in them.
 */
static int configure(void *sock, int listening_fd)
{
	int64_t max = WIRE_MAX_FRAME + CURVE_EXTRA;
	int r = listening_fd < 0 ? 0 : set(sock, ZMQ_USE_FD, listening_fd);

	r |= set(sock, ZMQ_ROUTER_MANDATORY, 1); /* an answer to nobody is an error that we count */
	r |= zmq_setsockopt(sock, ZMQ_MAXMSGSIZE, &max, sizeof(max));
	r |= set(sock, ZMQ_RCVHWM, PEER_HWM);
	r |= set(sock, ZMQ_SNDHWM, PEER_HWM);
	r |= set(sock, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
	r |= set(sock, ZMQ_TCP_KEEPALIVE, 1);
	r |= set(sock, ZMQ_TCP_KEEPALIVE_IDLE, ALIVE_IDLE_S);
	r |= set(sock, ZMQ_TCP_KEEPALIVE_INTVL, ALIVE_AGAIN_S);
	r |= set(sock, ZMQ_TCP_KEEPALIVE_CNT, ALIVE_ASKED);
	r |= set(sock, ZMQ_LINGER, FAREWELL_MS);
	return r;
}

void *router_context(void)
{
	void *zmq;

	seed();
	zmq = zmq_ctx_new();
	if (!zmq)
		die("out of memory");
	zmq_ctx_set(zmq, ZMQ_MAX_SOCKETS, 16);
	zmq_ctx_set(zmq, ZMQ_IO_THREADS, IO_THREADS);
	return zmq;
}

struct router *router_open(void *zmq, int listening_fd, const char *bind,
			   const struct key_pair *own)
{
	AUTO(router_close) struct router *r = calloc(1, sizeof(*r));

	if (!r)
		die("out of memory");
	r->endless = listening_fd < 0 ? NULL : slow_peer_new(listening_fd);
	r->sock = zmq_socket(zmq, ZMQ_ROUTER);
	if (!r->sock || secure(r->sock, own) < 0 || configure(r->sock, listening_fd) < 0 ||
	    zmq_bind(r->sock, bind) < 0)
		return NULL;
	return TAKE(r);
}

void router_close(struct router *r)
{
	if (!r)
		return;
	if (r->sock)
		zmq_close(r->sock);
	slow_peer_free(r->endless);
	free(r);
}

void *router_socket(const struct router *r)
{
	return r->sock;
}

static int drop(struct router *r, zmq_msg_t frame[static 2])
{
	zmq_msg_t more;

	for (int i = 0; i < 2; i++) {
		zmq_msg_close(&frame[i]);
		zmq_msg_init(&frame[i]);
	}
	counter_add(C_REFUSED_FRAMES, 1);
	for (bool again = true; again;) {
		zmq_msg_init(&more);
		again = zmq_msg_recv(&more, r->sock, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&more);
		zmq_msg_close(&more);
	}
	return 0;
}

/* What libzmq says of the connection hangs on each frame of the payload, not on the first one. */
static void tell_sender(struct sender *from, zmq_msg_t *frame)
{
	from->key = zmq_msg_gets(frame, "User-Id");
	from->address = zmq_msg_gets(frame, "Peer-Address");
	if (!from->address)
		from->address = "";
}

int router_recv(struct router *r, struct sender *from, zmq_msg_t frame[static 2])
{
	struct peer *peer = &from->peer;
	int len = zmq_recv(r->sock, peer->id, sizeof(peer->id), ZMQ_DONTWAIT), n = 0;
	int more = 0;
	size_t size = sizeof(more);

	if (len < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	counter_add(C_FRAMES, 1);
	zmq_getsockopt(r->sock, ZMQ_RCVMORE, &more, &size);
	while (more && n < 2) {
		if (zmq_msg_recv(&frame[n], r->sock, ZMQ_DONTWAIT) < 0)
			break;
		counter_add(C_BYTES, zmq_msg_size(&frame[n]));
		more = zmq_msg_more(&frame[n++]);
	}
	peer->len = (uint8_t)len;
	if (n > 0 && r->endless)
		slow_peer_heard(r->endless, zmq_msg_get(&frame[0], ZMQ_SRCFD));
	if (more)
		return drop(r, frame);
	if (n == 0 || len > PEER_MAX) {
		counter_add(C_REFUSED_FRAMES, 1);
		return 0;
	}
	tell_sender(from, &frame[0]);
	return n;
}

void router_look(struct router *r)
{
	slow_peer_look(r->endless);
}

void router_send(struct router *r, struct peer *to, const struct buf *frame)
{
	if (!to->len)
		return;
	if (zmq_send(r->sock, to->id, to->len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
	    zmq_send(r->sock, frame->data, frame->len, ZMQ_DONTWAIT) >= 0)
		return;
	counter_add(C_PEERS_GONE, 1);
	if (errno == EHOSTUNREACH)
		to->len = 0;
}

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
	CURVE_EXTRA = 33, /* bytes that CURVE adds to a frame; libzmq's limit includes them */
	HANDSHAKE_MS = 10000, /* then a connection without a handshake is cut */
	IO_THREADS = 2, /* of libzmq; a handshake takes one a millisecond */
	ALIVE_IDLE_S = 30, /* TCP keepalive: silence before the first probe, */
	ALIVE_AGAIN_S = 10, /* time between probes, */
	ALIVE_ASKED = 3, /* and their number */
	FAREWELL_MS = 300,
};

/* A draft option of zmq.h: no connection is accepted without an answer by ZAP. */
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#endif

struct router {
	void *sock;
	struct slow_peer *endless;
};

/* libzmq 4.3.4 never seeds rand(): a peer that guesses the next routing id can abort this process.
 */
static void seed_rand(void)
{
	unsigned v;

	if (getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
		die("no random numbers from the kernel");
	srand(v);
}

static int set_option(void *sock, int option, int value)
{
	return zmq_setsockopt(sock, option, &value, sizeof(value));
}

static int set_keys(void *sock, const struct key_pair *own)
{
	int r = set_option(sock, ZMQ_CURVE_SERVER, 1);

	r |= zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, own->secret, KEY_TEXT);
	r |= zmq_setsockopt(sock, ZMQ_ZAP_DOMAIN, GATE_DOMAIN, strlen(GATE_DOMAIN));
	r |= set_option(sock, ZMQ_ZAP_ENFORCE_DOMAIN, 1);
	return r;
}

/*
 * The router sends no heartbeats: libzmq searches the timers of all connections at each answer to a
 * heartbeat, which takes most of its thread's time with some thousand nodes. The probes send them:
 * a probe that falls silent is cut after a minute, the timeout in its heartbeats.
 */
static int configure(void *sock, int listening_fd)
{
	int64_t max = WIRE_MAX_FRAME + CURVE_EXTRA;
	int r = listening_fd < 0 ? 0 : set_option(sock, ZMQ_USE_FD, listening_fd);

	r |= set_option(sock, ZMQ_ROUTER_MANDATORY,
			1); /* makes an answer to a peer that is gone an error, to count it */
	r |= zmq_setsockopt(sock, ZMQ_MAXMSGSIZE, &max, sizeof(max));
	r |= set_option(sock, ZMQ_RCVHWM, PEER_HWM);
	r |= set_option(sock, ZMQ_SNDHWM, PEER_HWM);
	r |= set_option(sock, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
	r |= set_option(sock, ZMQ_TCP_KEEPALIVE, 1);
	r |= set_option(sock, ZMQ_TCP_KEEPALIVE_IDLE, ALIVE_IDLE_S);
	r |= set_option(sock, ZMQ_TCP_KEEPALIVE_INTVL, ALIVE_AGAIN_S);
	r |= set_option(sock, ZMQ_TCP_KEEPALIVE_CNT, ALIVE_ASKED);
	r |= set_option(sock, ZMQ_LINGER, FAREWELL_MS);
	return r;
}

void *router_context(void)
{
	void *zmq;

	seed_rand();
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
	if (!r->sock || set_keys(r->sock, own) < 0 || configure(r->sock, listening_fd) < 0 ||
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

/* libzmq attaches the connection's metadata to the payload frames, not to the routing id. */
static void read_sender(struct sender *from, zmq_msg_t *frame)
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
	read_sender(from, &frame[0]);
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

// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/dealer.h"

#include <stdio.h>
#include <sys/random.h>
#include <zmq.h>

#include "lib/base/log.h"

enum {
	LOCAL_RECONNECT_MS = 250, /* a restarted local collector is found at once */
	AWAY_RECONNECT_MS = 1000,
	AWAY_RECONNECT_SPREAD_MS = 4000, /* 1-5 s: a fleet does not reconnect at once */
	AWAY_RECONNECT_MAX_MS = 20000,
	MAX_ANSWER = 64 * 1024, /* longest message from a collector */
};

static uint32_t random32(void)
{
	uint32_t v;

	if (getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
		die("no random numbers from the kernel");
	return v;
}

/* libzmq 4.3.4 never seeds rand(): routing ids and reconnect jitter would be equal on every node.
 */
void *dealer_context(void)
{
	void *zmq;

	srand(random32());
	zmq = zmq_ctx_new();
	if (!zmq)
		die("out of memory");
	return zmq;
}

static bool is_local(const char *endpoint)
{
	static const char *const local[] = { "tcp://127.",
					     "tcp://localhost:", "tcp://[::1]:", "ipc://" };

	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (strncmp(endpoint, local[i], strlen(local[i])) == 0)
			return true;
	return false;
}

static void set(void *sock, int option, int value)
{
	if (zmq_setsockopt(sock, option, &value, sizeof(value)) < 0)
		die("libzmq refuses option %d", option);
}

static void set_reconnect(void *sock, const char *endpoint)
{
	if (is_local(endpoint)) {
		set(sock, ZMQ_RECONNECT_IVL, LOCAL_RECONNECT_MS); /* it adds up to as much again */
		return;
	}
	set(sock, ZMQ_RECONNECT_IVL,
	    (int)(AWAY_RECONNECT_MS + random32() % AWAY_RECONNECT_SPREAD_MS));
	set(sock, ZMQ_RECONNECT_IVL_MAX, AWAY_RECONNECT_MAX_MS);
}

static int secure(void *sock, const struct key_pair *own, const char *collector_key)
{
	if (zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, collector_key, KEY_TEXT) < 0 ||
	    zmq_setsockopt(sock, ZMQ_CURVE_PUBLICKEY, own->public, KEY_TEXT) < 0 ||
	    zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, own->secret, KEY_TEXT) < 0)
		return -errno;
	return 0;
}

static void configure(void *sock, const char *endpoint)
{
	const int64_t longest = MAX_ANSWER;

	set(sock, ZMQ_LINGER, 0);
	set(sock, ZMQ_IMMEDIATE, 1); /* queue nothing while the collector is not connected */
	set(sock, ZMQ_IPV6, 1);
	zmq_setsockopt(sock, ZMQ_MAXMSGSIZE, &longest, sizeof(longest));
	set(sock, ZMQ_CONNECT_TIMEOUT, 5000);
	set(sock, ZMQ_HEARTBEAT_IVL, 10000);
	set(sock, ZMQ_HEARTBEAT_TIMEOUT, 30000);
	set(sock, ZMQ_HEARTBEAT_TTL, 60000);
	set_reconnect(sock, endpoint);
}

int dealer_open(void *zmq, const char *endpoint, const struct key_pair *own,
		const char *collector_key, struct dealer *out)
{
	static unsigned number; /* only one thread opens sockets */
	struct dealer d = { .sock = zmq_socket(zmq, ZMQ_DEALER) };
	char name[32];
	int r;

	if (!d.sock)
		return -errno;
	configure(d.sock, endpoint);
	snprintf(name, sizeof(name), "dealer-%u", ++number);
	r = secure(d.sock, own, collector_key);
	if (r == 0 && (!(d.watch = handshake_watch(zmq, d.sock, name, false)) ||
		       zmq_connect(d.sock, endpoint) < 0))
		r = -errno;
	if (r < 0)
		dealer_close(&d);
	else
		*out = d;
	return r;
}

void dealer_close(struct dealer *d)
{
	if (d->watch)
		zmq_close(d->watch);
	if (d->sock)
		zmq_close(d->sock);
	memset(d, 0, sizeof(*d));
}

int dealer_send(void *sock, const struct buf *frame)
{
	return zmq_send(sock, frame->data, frame->len, ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

/* Called from libzmq's thread. */
static void on_body_sent(void *body UNUSED, void *batch)
{
	spool_batch_release(batch);
}

int dealer_send_batch(void *sock, const struct buf *head, struct spool_batch *b)
{
	zmq_msg_t body;
	int r;

	if (zmq_send(sock, head->data, head->len, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
		return -errno;
	spool_batch_hold(b);
	if (zmq_msg_init_data(&body, b->body, b->len, on_body_sent, b) < 0)
		die("out of memory");
	if (zmq_msg_send(&body, sock, ZMQ_DONTWAIT) >= 0)
		return 0;
	r = -errno;
	zmq_msg_close(&body);
	return r;
}

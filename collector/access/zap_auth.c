// SPDX-License-Identifier: Apache-2.0
#include "collector/access/zap_auth.h"

#include <stdio.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/uplink/handshake.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/access/accept_guard.h"
#include "collector/access/key_registry.h"

enum { ANSWERS = 256, FIELDS = 7, FIELD_MAX = 256, CURVE_KEY = 32, BROKEN_SAID = 5 };

static const uint64_t QUIET_NS = 600000000000u;

struct zap_auth {
	void *zmq, *zap, *events;
	struct key_registry *registry;
	struct accept_guard *guard;
	uint64_t logged_plain_ns, logged_full_ns;
	unsigned broken;
};

struct zap_auth *zap_auth_open(void *zmq, struct key_registry *registry)
{
	AUTO(zap_auth_close) struct zap_auth *g = calloc(1, sizeof(*g));
	int zero = 0;

	if (!g)
		die("out of memory");
	g->registry = registry;
	g->zmq = zmq;
	g->zap = zmq_socket(zmq, ZMQ_REP);
	if (!g->zap || zmq_setsockopt(g->zap, ZMQ_LINGER, &zero, sizeof(zero)) < 0 ||
	    zmq_bind(g->zap, "inproc://zeromq.zap.01") < 0)
		return NULL;
	return TAKE(g);
}

void zap_auth_close(struct zap_auth *g)
{
	if (!g)
		return;
	if (g->zap)
		zmq_close(g->zap);
	if (g->events)
		zmq_close(g->events);
	free(g);
}

void *zap_auth_socket(const struct zap_auth *g)
{
	return g->zap;
}

void *zap_auth_events(const struct zap_auth *g)
{
	return g->events;
}

struct request {
	size_t n, len[FIELDS];
	char field[FIELDS][FIELD_MAX];
};

/* version, request id, domain, address, identity, mechanism, key; -1: no request waits */
static int take_request(void *zap, struct request *q)
{
	int more = 1;
	size_t size = sizeof(more);

	for (q->n = 0; more; q->n++) {
		char rest[FIELD_MAX];
		size_t i = q->n < FIELDS ? q->n : FIELDS;
		int len = zmq_recv(zap, i < FIELDS ? q->field[i] : rest, FIELD_MAX - 1,
				   q->n ? 0 : ZMQ_DONTWAIT);

		if (len < 0)
			return -1;
		if (i < FIELDS) {
			q->len[i] = len < FIELD_MAX - 1 ? (size_t)len : FIELD_MAX - 1;
			q->field[i][q->len[i]] = 0;
		}
		zmq_getsockopt(zap, ZMQ_RCVMORE, &more, &size);
	}
	return 0;
}

/* Sets key to the connection's key as text, or to "" to refuse it. */
static void check_key(const struct zap_auth *g, const struct request *q, char key[static KEY_TEXT])
{
	struct key_registry_entry e;
	bool loaded;

	*key = 0;
	if (q->n != FIELDS || strcmp(q->field[5], "CURVE") != 0 || q->len[6] != CURVE_KEY)
		return;
	zmq_z85_encode(key, (const uint8_t *)q->field[6], CURVE_KEY);
	if (!g->registry || !key_registry_find(g->registry, key, &e, &loaded) ||
	    e.state == KEY_APPROVED || e.state == KEY_PENDING)
		return;
	counter_add(C_HANDSHAKES_REVOKED, 1);
	*key = 0;
}

static void send_text(void *zap, const char *text, int flags)
{
	zmq_send(zap, text, strlen(text), flags);
}

int zap_auth_answer(void *auth)
{
	struct zap_auth *g = auth;
	struct request q;

	for (int i = 0; i < ANSWERS && take_request(g->zap, &q) == 0; i++) {
		char key[KEY_TEXT];

		check_key(g, &q, key);
		send_text(g->zap, "1.0", ZMQ_SNDMORE);
		zmq_send(g->zap, q.field[1], q.n > 1 ? q.len[1] : 0, ZMQ_SNDMORE);
		send_text(g->zap, *key ? "200" : "400", ZMQ_SNDMORE);
		send_text(g->zap, *key ? "OK" : "the key is refused", ZMQ_SNDMORE);
		send_text(g->zap, key, ZMQ_SNDMORE);
		send_text(g->zap, "", 0);
	}
	return 0;
}

int zap_auth_watch(struct zap_auth *g, void *router, struct accept_guard *guard)
{
	g->guard = guard;
	g->events = handshake_watch(g->zmq, router, "gate", true);
	return g->events ? 0 : -errno;
}

static bool log_due(uint64_t *logged_ns)
{
	uint64_t now = clock_mono_ns();

	if (*logged_ns && now - *logged_ns < QUIET_NS)
		return false;
	*logged_ns = now;
	return true;
}

/* Refusals by ZAP were counted in check_key. */
static void count_handshake(struct zap_auth *g, enum handshake h)
{
	static const enum counter counter[] = {
		[HANDSHAKE_PLAIN] = C_HANDSHAKES_PLAIN,
		[HANDSHAKE_WRONG_KEY] = C_HANDSHAKES_WRONG_KEY,
		[HANDSHAKE_PROTOCOL] = C_HANDSHAKES_PROTOCOL,
		[HANDSHAKE_BROKEN] = C_HANDSHAKES_BROKEN,
		[HANDSHAKE_NO_ACCEPT] = C_ACCEPT_FAILED,
		[HANDSHAKE_ENDED] = C_DISCONNECTS,
	};

	if (h != HANDSHAKE_REFUSED)
		counter_add(counter[h], 1);
	/* The first side that notices missing keys closes; the other only sees a broken connection.
	 */
	if ((h == HANDSHAKE_PLAIN || (h == HANDSHAKE_BROKEN && ++g->broken >= BROKEN_SAID)) &&
	    log_due(&g->logged_plain_ns))
		log_warn(0,
			 "connections break off before they prove a key: maybe a probe of before "
			 "version 0.2 (update it), or no probe at all");
	if (h == HANDSHAKE_NO_ACCEPT && log_due(&g->logged_full_ns))
		log_warn(0,
			 "out of file descriptors, new connections are refused: raise LimitNOFILE "
			 "(four for each node), or find the clients that connect so often");
}

int zap_auth_count(void *auth)
{
	struct zap_auth *g = auth;
	enum handshake h;
	bool full = false;

	for (int i = 0; i < ANSWERS && handshake_next(g->events, &h); i++) {
		count_handshake(g, h);
		full |= h == HANDSHAKE_NO_ACCEPT;
	}
	if (full)
		accept_guard_shut(g->guard);
	return 0;
}

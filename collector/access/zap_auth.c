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
	struct key_registry *roster;
	struct accept_guard *door;
	uint64_t told_plain_ns, told_full_ns;
	unsigned broken;
};

struct zap_auth *zap_auth_open(void *zmq, struct key_registry *roster)
{
	AUTO(zap_auth_close) struct zap_auth *g = calloc(1, sizeof(*g));
	int zero = 0;

	if (!g)
		die("out of memory");
	g->roster = roster;
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

/* version, request id, domain, address, identity, mechanism, the key; -1: nothing there */
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

/* Its key as text; "" refuses. */
static void judge(const struct zap_auth *g, const struct request *q, char key[static KEY_TEXT])
{
	struct key_registry_entry e;
	bool loaded;

	*key = 0;
	if (q->n != FIELDS || strcmp(q->field[5], "CURVE") != 0 || q->len[6] != CURVE_KEY)
		return;
	zmq_z85_encode(key, (const uint8_t *)q->field[6], CURVE_KEY);
	if (!g->roster || !key_registry_find(g->roster, key, &e, &loaded) ||
	    e.state == ROSTER_APPROVED || e.state == ROSTER_WAITS)
		return;
	counter_add(C_HANDSHAKES_REVOKED, 1);
	*key = 0;
}

static void say(void *zap, const char *text, int flags)
{
	zmq_send(zap, text, strlen(text), flags);
}

int zap_auth_answer(void *gate)
{
	struct zap_auth *g = gate;
	struct request q;

	for (int i = 0; i < ANSWERS && take_request(g->zap, &q) == 0; i++) {
		char key[KEY_TEXT];

		judge(g, &q, key);
		say(g->zap, "1.0", ZMQ_SNDMORE);
		zmq_send(g->zap, q.field[1], q.n > 1 ? q.len[1] : 0, ZMQ_SNDMORE);
		say(g->zap, *key ? "200" : "400", ZMQ_SNDMORE);
		say(g->zap, *key ? "OK" : "this key is not welcome", ZMQ_SNDMORE);
		say(g->zap, key, ZMQ_SNDMORE);
		say(g->zap, "", 0);
	}
	return 0;
}

int zap_auth_watch(struct zap_auth *g, void *router, struct accept_guard *door)
{
	g->door = door;
	g->events = handshake_watch(g->zmq, router, "gate", true);
	return g->events ? 0 : -errno;
}

static bool due(uint64_t *told_ns)
{
	uint64_t now = clock_mono_ns();

	if (*told_ns && now - *told_ns < QUIET_NS)
		return false;
	*told_ns = now;
	return true;
}

/* A refusal by the gate was counted there. */
static void count(struct zap_auth *g, enum handshake h)
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
	/* Whoever first sees that the other has no keys hangs up: the other one only sees that. */
	if ((h == HANDSHAKE_PLAIN || (h == HANDSHAKE_BROKEN && ++g->broken >= BROKEN_SAID)) &&
	    due(&g->told_plain_ns))
		log_warn(0,
			 "connections break off before they prove a key: maybe a probe of before "
			 "version 0.2 (update it), or no probe at all");
	if (h == HANDSHAKE_NO_ACCEPT && due(&g->told_full_ns))
		log_warn(0,
			 "out of descriptors: who connects is turned away; raise LimitNOFILE (four "
			 "for each node), or look who connects so often");
}

int zap_auth_count(void *gate)
{
	struct zap_auth *g = gate;
	enum handshake h;
	bool full = false;

	for (int i = 0; i < ANSWERS && handshake_next(g->events, &h); i++) {
		count(g, h);
		full |= h == HANDSHAKE_NO_ACCEPT;
	}
	if (full)
		accept_guard_shut(g->door);
	return 0;
}

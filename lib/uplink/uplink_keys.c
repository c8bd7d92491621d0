// SPDX-License-Identifier: Apache-2.0
/* uplink_keys.c - handles the collector's messages about keys and the results of handshakes. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/uplink/uplink_state.h"

enum { ARENA = 4096, FAILED_SAID = 3 };

static const uint64_t REFUSED_NS = 2000 * MS; /* until the next HELLO */

static void say_refused(const struct uplink *u, uint8_t why, const char *known_as)
{
	const char *node = u->cfg.node, *key = u->cfg.keys->own.public, *where = uplink_where(u);

	switch (why) {
	case WHY_UNKNOWN_KEY:
	case WHY_TOKEN:
		log_warn(0,
			 "collector at %s has not approved node %s%s: run seismo-collector node "
			 "approve '%s' there. Until then all data is kept here",
			 where, node, why == WHY_TOKEN ? ", and its token is not valid" : "", key);
		break;
	case WHY_REVOKED:
		log_err(0,
			"collector at %s has revoked the key of node %s: if that was a mistake, "
			"run seismo-collector node approve '%s' there",
			where, node, key);
		break;
	case WHY_OTHER_NODE:
		log_err(0,
			"collector at %s knows this key as node %s, not %s: set node to %s, or "
			"give this node its own keys (another key directory)",
			where, known_as, node, known_as);
		break;
	case WHY_NAME_TAKEN:
		log_err(0,
			"collector at %s knows node %s by another key: if this machine was "
			"reinstalled, run seismo-collector node approve '%s' there, else give it "
			"another name",
			where, node, key);
		break;
	case WHY_REGION:
		log_err(0,
			"collector at %s approved the key of node %s for another region, or as a "
			"node, but not for region %s: if this relay is right, run seismo-collector "
			"node "
			"approve '%s' there",
			where, node, u->cfg.relay ? u->cfg.relay : "", key);
		break;
	default:
		log_warn(0, "collector at %s does not accept node %s for now (reason %u)", where,
			 node, why);
	}
}

void uplink_refused(struct uplink *u, const void *frame, size_t len)
{
	AUTO(arena_free) struct arena *a = arena_new(ARENA);
	struct wire_refused r;

	if (wire_refused_decode(a, frame, len, &r) < 0 || r.node_id != u->node_id ||
	    r.epoch != spool_epoch(u->cfg.spool)) {
		u->stat.ignored++;
		return;
	}
	u->state = CONNECTING;
	u->since_ns = clock_mono_ns();
	u->hello_ns = u->since_ns + REFUSED_NS;
	u->away = true; /* the cause has just been logged */
	if (r.why == u->refused)
		return;
	u->refused = r.why;
	say_refused(u, r.why, text_clean(a, r.known_as, strlen(r.known_as)));
}

/* The next connection presents the new key to the collector and ends the old one. */
static void change_key(struct uplink *u)
{
	if (keyring_change(u->cfg.keys) < 0)
		return;
	log_info("node %s has a new key, %s", u->cfg.node, u->cfg.keys->own.public);
	uplink_start_over(u);
}

void uplink_keys(struct uplink *u, const void *frame, size_t len)
{
	AUTO(arena_free) struct arena *a = arena_new(ARENA);
	struct keyring *ring = u->cfg.keys;
	struct wire_keys k;

	if (wire_keys_decode(a, frame, len, &k) < 0 || k.node_id != u->node_id ||
	    k.epoch != spool_epoch(u->cfg.spool)) {
		u->stat.ignored++;
		return;
	}
	if (keyring_trust(ring, k.collector))
		log_info("collector at %s will go on with key %s, which is trusted from now on",
			 uplink_where(u), k.collector);
	if (*k.taken && strcmp(k.taken, ring->next.public) == 0)
		change_key(u);
	else if (k.rotate && u->state == UP && keyring_prepare(ring) == 0)
		uplink_say_hello(u);
}

static void say_failed(const struct uplink *u, enum handshake h)
{
	if (h == HANDSHAKE_REFUSED)
		say_refused(u, WHY_REVOKED, "");
	else if (h == HANDSHAKE_PLAIN)
		log_err(0,
			"the listener at %s has no keys: a collector older than version 0.2 must "
			"be "
			"updated",
			uplink_where(u));
	else
		log_err(0,
			"the collector at %s does not have a key that this node trusts: set "
			"collector_key to the output of seismo-collector key there; a collector "
			"older than version 0.2 has no key: update it",
			uplink_where(u));
}

/*
 * A handshake may break off because the collector ends at that moment, so only a lasting failure is
 * logged, once. A listener without keys may hang up as soon as it sees that we have keys; then the
 * hangup is all we see.
 */
void uplink_hear_handshakes(struct uplink *u)
{
	const unsigned enough = FAILED_SAID * u->cfg.keys->collectors.n;
	enum handshake h;

	while (u->dealer.watch && handshake_next(u->dealer.watch, &h)) {
		u->failing = true;
		if (u->failed >= enough)
			continue;
		u->failed = h == HANDSHAKE_REFUSED || h == HANDSHAKE_PLAIN ? enough : u->failed + 1;
		if (u->failed == enough) {
			u->away = true;
			say_failed(u, h);
		}
	}
}

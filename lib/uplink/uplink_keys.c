// SPDX-License-Identifier: Apache-2.0
/* uplink_keys.c - what the collector says of keys, and what becomes of a handshake. */
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
			 "collector at %s has to let node %s in%s: seismo-collector node approve "
			 "'%s' there. Until then everything is kept here",
			 where, node, why == WHY_TOKEN ? ", and its token is no good any more" : "",
			 key);
		break;
	case WHY_REVOKED:
		log_err(0,
			"collector at %s has revoked the key of node %s: if that was a mistake, "
			"seismo-collector node approve '%s' there",
			where, node, key);
		break;
	case WHY_OTHER_NODE:
		log_err(0,
			"collector at %s knows this key as node %s, not %s: set node to %s, or "
			"give "
			"this node keys of its own (another directory of keys)",
			where, known_as, node, known_as);
		break;
	case WHY_NAME_TAKEN:
		log_err(0,
			"collector at %s knows node %s by another key: if this machine was set up "
			"anew, seismo-collector node approve '%s' there, else give it another name",
			where, node, key);
		break;
	case WHY_REGION:
		log_err(0,
			"collector at %s let the key of node %s in for another region, or as a "
			"node, and not for region %s: seismo-collector node approve '%s' there, if "
			"that is right",
			where, node, u->cfg.relay ? u->cfg.relay : "", key);
		break;
	default:
		log_warn(0, "collector at %s does not take node %s for now (reason %u)", where,
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
	u->away = true; /* what was said is why */
	if (r.why == u->refused)
		return;
	u->refused = r.why;
	say_refused(u, r.why, text_clean(a, r.known_as, strlen(r.known_as)));
}

/* By its next connection the collector hears the new key, and the old one is over. */
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
			"what listens at %s has no keys: a collector of before version 0.2 has to "
			"be "
			"updated",
			uplink_where(u));
	else
		log_err(0,
			"the collector at %s does not have a key that this node trusts: set "
			"collector_key to what seismo-collector key prints there; or it is one of "
			"before version 0.2, which has none: update it",
			uplink_where(u));
}

/*
 * One may break off because the collector ends at that moment: what goes on is said, and once. What
 * listens may hang up as soon as it sees that we have keys, so that is all that is seen of it.
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

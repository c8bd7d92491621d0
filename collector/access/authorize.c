// SPDX-License-Identifier: Apache-2.0
#include "collector/access/authorize.h"

#include <stdio.h>

#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "collector/core/counters.h"

static void copy_clean(char *out, size_t size, const char *s)
{
	text_clean_into(out, size, s, strlen(s));
}

void authorize_ask(struct ask *out, const struct sender *from, const struct wire_hello *h)
{
	memset(out, 0, sizeof(*out));
	out->peer = from->peer;
	out->node = hash_node_id(h->node);
	out->epoch = h->epoch;
	out->wall_ns = h->wall_ns;
	snprintf(out->key, sizeof(out->key), "%s", from->key ? from->key : "");
	if (key_is_text(h->next_key))
		snprintf(out->next, sizeof(out->next), "%s", h->next_key);
	copy_clean(out->address, sizeof(out->address), from->address);
	copy_clean(out->name, sizeof(out->name), h->node);
	copy_clean(out->machine, sizeof(out->machine), h->machine);
	copy_clean(out->version, sizeof(out->version), h->version);
	copy_clean(out->token, sizeof(out->token), h->token);
	copy_clean(out->relay, sizeof(out->relay), h->relay);
}

static void send_refused(struct authorize *a, const struct ask *q, int why, const char *known_as)
{
	struct peer to = q->peer;

	counter_add(why == WHY_REVOKED	    ? C_REFUSED_REVOKED
		    : why == WHY_OTHER_NODE ? C_REFUSED_IDENTITY
		    : why == WHY_REGION	    ? C_REFUSED_REGION
					    : C_REFUSED_KEY,
		    1);
	wire_refused_encode(&a->out,
			    &(struct wire_refused){ q->node, q->epoch, (uint8_t)why, known_as });
	router_send(a->router, &to, &a->out);
}

void authorize_send_keys(struct authorize *a, struct peer *to, uint64_t node, uint64_t epoch,
			 const char *taken)
{
	wire_keys_encode(&a->out, &(struct wire_keys){ .node_id = node,
						       .epoch = epoch,
						       .collector = a->own->next,
						       .rotate = a->who.rotate,
						       .taken = taken });
	router_send(a->router, to, &a->out);
}

/* For an approved key: it announces its next key, or is used for the first time. */
static void follow_change(struct authorize *a, const struct ask *q)
{
	struct key_registry_entry next;
	struct peer to = q->peer;
	struct ask change = *q;
	bool loaded;

	if (a->who.unused) {
		change.kind = ASK_USED;
		key_registry_ask(a->registry, &change);
	}
	if (!*q->next || strcmp(q->next, q->key) == 0)
		return;
	if (key_registry_find(a->registry, q->next, &next, &loaded) && next.state == KEY_APPROVED &&
	    next.node == q->node) {
		authorize_send_keys(a, &to, q->node, q->epoch, q->next);
		return;
	}
	change.kind = ASK_NEXT;
	key_registry_ask(a->registry, &change);
}

bool authorize_hello(struct authorize *a, const struct ask *q)
{
	bool loaded = false, found = key_registry_find(a->registry, q->key, &a->who, &loaded);

	if (!loaded)
		return false; /* no database since the start: probes repeat HELLO */
	if (!found || a->who.state == KEY_PENDING) {
		key_registry_ask(a->registry, q);
		return false;
	}
	if (a->who.state != KEY_APPROVED) {
		send_refused(a, q, WHY_REVOKED, "");
		return false;
	}
	if (a->who.node != q->node) {
		send_refused(a, q, WHY_OTHER_NODE, a->who.name);
		return false;
	}
	if (strcmp(a->who.relay, q->relay) != 0) { /* the database stores the claimed region */
		key_registry_ask(a->registry, q);
		return false;
	}
	follow_change(a, q);
	return true;
}

bool authorize_answer(struct authorize *a, struct ask *out)
{
	while (key_registry_take_answer(a->registry, out)) {
		if (out->kind == ASK_NEXT && out->why == 0)
			authorize_send_keys(a, &out->peer, out->node, out->epoch, out->next);
		if (out->kind != ASK_ENROL)
			continue;
		if (out->why == 0)
			return true;
		send_refused(a, out, out->why, out->why == WHY_NAME_TAKEN ? out->name : "");
	}
	return false;
}

bool authorize_message(struct authorize *a, const struct sender *from)
{
	bool loaded,
		found = from->key && key_registry_find(a->registry, from->key, &a->who, &loaded);

	if (found && a->who.state == KEY_APPROVED)
		return true;
	counter_add(found && a->who.state > KEY_APPROVED ? C_REFUSED_REVOKED : C_REFUSED_KEY, 1);
	return false;
}

bool authorize_node(struct authorize *a, uint64_t node)
{
	if (a->who.node == node)
		return true;
	counter_add(C_REFUSED_IDENTITY, 1);
	return false;
}

bool authorize_has_news(const struct authorize *a)
{
	return a->who.rotate || *a->own->next;
}

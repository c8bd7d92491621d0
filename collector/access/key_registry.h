// SPDX-License-Identifier: Apache-2.0
/*
 * key_registry.h - the keys of the database in memory, and a thread that follows their changes.
 *
 * A change by any collector or command arrives within a fraction of a second. While the database is
 * away the last known state holds. Decisions that need the database are requested without waiting
 * (at most KEY_REGISTRY_ASKS at a time; more are counted and dropped, since probes repeat HELLO)
 * and come back as answers. Any thread may call key_registry_find.
 */
#pragma once

#include "lib/wire/item.h"
#include "lib/uplink/keys.h"
#include "collector/access/peer.h"

struct key_registry;

enum { KEY_REGISTRY_TEXT = 4 * ITEM_MAX_NAME + 1, KEY_REGISTRY_ASKS = 1024 };

enum key_registry_state { KEY_PENDING, KEY_APPROVED, KEY_REVOKED, KEY_REPLACED };

struct key_registry_entry {
	char key[KEY_TEXT];
	uint64_t node; /* the only node it may send for */
	enum key_registry_state state;
	bool rotate; /* the node must make a new key */
	bool unused; /* approved to replace another key, and not used yet */
	char relay[ITEM_MAX_NAME + 1]; /* the region that it relays; "": it is a node */
	char name[KEY_REGISTRY_TEXT]; /* the node's display name */
};

enum ask_kind { ASK_ENROL, ASK_NEXT, ASK_USED };

/* A HELLO with clean texts, and the decision on it. */
struct ask {
	enum ask_kind kind;
	struct peer peer;
	uint64_t node, epoch, wall_ns; /* wall_ns: by the node's clock */
	char key[KEY_TEXT];
	char next[KEY_TEXT]; /* ASK_NEXT */
	char address[64];
	char name[KEY_REGISTRY_TEXT], machine[KEY_REGISTRY_TEXT], version[KEY_REGISTRY_TEXT];
	char token[ITEM_MAX_NAME + 1];
	char relay[ITEM_MAX_NAME + 1]; /* the region that it claims to relay */
	int why; /* the decision: 0 accepted, or enum wire_why */
};

int key_registry_start(struct key_registry **out, const char *database) MUST_CHECK;
void key_registry_stop(struct key_registry *r); /* NULL is fine */

/* False: no such key. *loaded is false until the database was read once. */
bool key_registry_find(struct key_registry *r, const char *key, struct key_registry_entry *out,
		       bool *loaded);

void key_registry_ask(struct key_registry *r, const struct ask *a);
int key_registry_answer_fd(const struct key_registry *r); /* readable: answers are waiting */
bool key_registry_take_answer(struct key_registry *r, struct ask *out);

// SPDX-License-Identifier: Apache-2.0
/*
 * key_registry.h - who may send: the keys that the database has, in memory, and a thread that follows it.
 *
 * A change that any collector or command makes is known here within a fraction of a second. While
 * the database is away what was known last holds. What has to be decided there is asked without
 * waiting (at most ROSTER_ASKS at a time, more are counted and dropped: probes repeat themselves)
 * and comes back as an answer. key_registry_find may be called by any thread.
 */
#pragma once

#include "lib/wire/item.h"
#include "lib/uplink/keys.h"
#include "collector/ingest/watermarks.h"

struct key_registry;

enum { ROSTER_TEXT = 4 * ITEM_MAX_NAME + 1, ROSTER_ASKS = 1024 };

enum key_registry_state { ROSTER_WAITS, ROSTER_APPROVED, ROSTER_REVOKED, ROSTER_REPLACED };

struct key_registry_entry {
	char key[KEY_TEXT];
	uint64_t node; /* the only one that it may speak for */
	enum key_registry_state state;
	bool rotate; /* the node is to make itself another key */
	bool unused; /* approved in place of an older one, and not heard of yet */
	char relay[ITEM_MAX_NAME + 1]; /* the region that it may bring all of; "": it is a node */
	char name[ROSTER_TEXT]; /* of the node, as it is shown */
};

enum ask_kind { ASK_ENROL, ASK_NEXT, ASK_USED };

/* A HELLO, cleaned, and what became of it. */
struct ask {
	enum ask_kind kind;
	struct peer peer;
	uint64_t node, epoch, wall_ns; /* wall: by its clock */
	char key[KEY_TEXT];
	char next[KEY_TEXT]; /* ASK_NEXT */
	char address[64];
	char name[ROSTER_TEXT], machine[ROSTER_TEXT], version[ROSTER_TEXT];
	char token[ITEM_MAX_NAME + 1];
	char relay[ITEM_MAX_NAME + 1]; /* the region that it says it relays */
	int why; /* the answer: 0 yes, or enum wire_why */
};

int key_registry_start(struct key_registry **out, const char *database) MUST_CHECK;
void key_registry_stop(struct key_registry *r); /* NULL is fine */

/* False: no such key. Until the database was read once nobody is known: *loaded. */
bool key_registry_find(struct key_registry *r, const char *key, struct key_registry_entry *out, bool *loaded);

void key_registry_ask(struct key_registry *r, const struct ask *a);
int key_registry_answer_fd(const struct key_registry *r); /* readable: there are answers */
bool key_registry_take_answer(struct key_registry *r, struct ask *out);

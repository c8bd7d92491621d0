// SPDX-License-Identifier: Apache-2.0
/*
 * keyring.h - the keys of this node, and those of the collectors that it trusts.
 *
 * DIR/node.key is the node's key pair, made at the first start; DIR/node.next is the next pair
 * during a key change; DIR/collectors.pub has the next keys announced by collectors, in addition to
 * the configured ones. Errors are -errno with a sentence that says what to do.
 */
#pragma once

#include "lib/wire/item.h"
#include "lib/uplink/keys.h"

struct keyring {
	char dir[256];
	struct key_pair own, next; /* next.public: "" when there is none */
	struct key_list collectors; /* at least one */
	char token[ITEM_MAX_NAME + 1]; /* "": none */
};

struct keyring_config {
	const char *dir;
	const char *collector_key; /* keys and files of keys, separated by commas */
	const char *token; /* a file; "": none */
};

int keyring_open(struct keyring *k, const struct keyring_config *cfg, char *err,
		 size_t errlen) MUST_CHECK;

/* Reads only the collectors' keys. */
int keyring_collectors(struct keyring *k, const char *dir, const char *collector_key, char *err,
		       size_t errlen) MUST_CHECK;

/*
 * Trusts a key announced by a collector. True: the key is new. A key that cannot be stored on disk
 * is trusted until the process ends.
 */
bool keyring_trust(struct keyring *k, const char *collector_key);
int keyring_prepare(struct keyring *k) MUST_CHECK; /* makes a next pair, if there is none */
int keyring_change(struct keyring *k) MUST_CHECK; /* makes the next pair the node's own */

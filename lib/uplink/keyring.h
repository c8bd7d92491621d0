// SPDX-License-Identifier: Apache-2.0
/*
 * keyring.h - the keys of this node, and those of the collectors that it trusts.
 *
 * DIR/node.key is the pair that this node is known by, made at the first start; DIR/node.next the
 * one that it changes to, while it does; DIR/collectors.pub what collectors said of their next
 * keys, beside those that the configuration names. Errors are -errno with a sentence that says what
 * to do.
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
	const char *collector_key; /* keys, and files of keys, parted by commas */
	const char *token; /* a file; "": none */
};

int keyring_open(struct keyring *k, const struct keyring_config *cfg, char *err,
		 size_t errlen) MUST_CHECK;

/* Only whom this node trusts. */
int keyring_collectors(struct keyring *k, const char *dir, const char *collector_key, char *err,
		       size_t errlen) MUST_CHECK;

/* Of what a collector said. True: this is new. What cannot be kept on disk holds until the end. */
bool keyring_trust(struct keyring *k, const char *collector_key);
int keyring_prepare(struct keyring *k) MUST_CHECK; /* a next pair, if there is none */
int keyring_change(struct keyring *k) MUST_CHECK; /* the next one is our own from now on */

// SPDX-License-Identifier: Apache-2.0
/*
 * own_keys.h - the collector's own key pair, and the next one during a rotation.
 *
 * DIR/collector.key is the pair in use, read once. DIR/collector.next is the next pair.
 * DIR/collector.pub is readable by everybody and holds the public keys of both: probes are
 * configured with it, and a running collector learns from it that there is a next key.
 */
#pragma once

#include "lib/uplink/keys.h"

struct own_keys {
	struct key_pair pair;
	char next[KEY_TEXT]; /* the next public key, or "" */
	int dir; /* open as long as the process lives */
	char path[KEYS_PATH]; /* of collector.pub */
};

/* Makes a pair if there is none. Errors with a sentence. */
int own_keys_open(struct own_keys *k, const char *dir, char *err, size_t errlen) MUST_CHECK;
void own_keys_look(struct own_keys *k); /* now and then: looks for a next key */

/* Commands: make the next pair (out: its public key); put the next pair in use. */
int own_keys_prepare(const char *dir, char out[static KEY_TEXT], char *err,
		     size_t errlen) MUST_CHECK;
int own_keys_rotate(const char *dir, char out[static KEY_TEXT], char *err,
		    size_t errlen) MUST_CHECK;

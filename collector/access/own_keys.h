// SPDX-License-Identifier: Apache-2.0
/*
 * own_keys.h - the collector's own key pair, and the one it will go on with.
 *
 * DIR/collector.key is the pair in use, read once; DIR/collector.next the one to come; and
 * DIR/collector.pub, which everybody may read, has the public keys of both: it is what a probe is
 * given, and what a running collector looks at to learn that there is a next key.
 */
#pragma once

#include "lib/uplink/keys.h"

struct own_keys {
	struct key_pair pair;
	char next[KEY_TEXT]; /* the public key of the one to come, or "" */
	int dir; /* kept open for as long as the process lives */
	char path[KEYS_PATH]; /* of collector.pub */
};

/* Makes a pair if there is none. Errors with a sentence. */
int own_keys_open(struct own_keys *k, const char *dir, char *err, size_t errlen) MUST_CHECK;
void own_keys_look(struct own_keys *k); /* from time to time */

/* Commands: a next pair (out: its public key), and the next one in the place of the one in use. */
int own_keys_prepare(const char *dir, char out[static KEY_TEXT], char *err,
		     size_t errlen) MUST_CHECK;
int own_keys_rotate(const char *dir, char out[static KEY_TEXT], char *err,
		    size_t errlen) MUST_CHECK;

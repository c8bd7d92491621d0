// SPDX-License-Identifier: Apache-2.0
/* fake_keys.h - how a fake probe is known: by a key that follows from its node's name, and a token.
 */
#pragma once

#include <stdio.h>
#include <zmq.h>

#include "lib/base/hash.h"
#include "lib/uplink/keys.h"

/* The same in each process. */
static inline struct key_pair fake_key_of(const char *node)
{
	uint64_t secret[4];
	struct key_pair k;

	for (int i = 0; i < 4; i++) {
		char name[80];

		snprintf(name, sizeof(name), "secret %d of %s", i, node);
		secret[i] = hash_node_id(name);
	}
	if (!zmq_z85_encode(k.secret, (uint8_t *)secret, sizeof(secret)) ||
	    zmq_curve_public(k.public, k.secret) < 0)
		abort();
	return k;
}

/* COLLECTOR_PUB is a file with the collector's public key; "-" is none, as before version 0.2. */
static inline void fake_secure(void *sock, const char *node)
{
	struct key_pair k = fake_key_of(node);
	struct key_list trusted = { 0 };
	const char *path = getenv("COLLECTOR_PUB");
	char err[256];

	if (path && strcmp(path, "-") == 0)
		return;
	if (!path || keys_read(path, &trusted, err, sizeof(err)) < 0 || trusted.n == 0) {
		fputs("COLLECTOR_PUB is no file with the collector's key\n", stderr);
		exit(2);
	}
	zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, trusted.key[0], KEY_TEXT);
	zmq_setsockopt(sock, ZMQ_CURVE_PUBLICKEY, k.public, KEY_TEXT);
	zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, k.secret, KEY_TEXT);
}

/* TOKEN is a file with what lets a node in. */
static inline void fake_token(char token[static 64])
{
	const char *path = getenv("TOKEN");
	FILE *in = path ? fopen(path, "re") : NULL;

	if (in && fscanf(in, "%63s", token) != 1)
		token[0] = 0;
	if (in)
		fclose(in);
}

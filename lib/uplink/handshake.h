// SPDX-License-Identifier: Apache-2.0
/*
 * handshake.h - failed or ended connections of a socket, as reported by libzmq.
 *
 * handshake_watch gives a socket to read it from, which the caller closes (before the watched one's
 * context); NULL: errno. One socket of a context is watched by one name.
 */
#pragma once

#include "lib/base/base.h"

enum handshake {
	HANDSHAKE_REFUSED, /* by the collector's gate: the key is not accepted */
	HANDSHAKE_PLAIN, /* the other side has no keys */
	HANDSHAKE_WRONG_KEY, /* one side expects another key of the other */
	HANDSHAKE_PROTOCOL, /* another breach of the protocol */
	HANDSHAKE_BROKEN, /* the peer went away, or was too slow */
	HANDSHAKE_NO_ACCEPT, /* out of descriptors or memory */
	HANDSHAKE_ENDED, /* the connection ended, reason unknown; only with ends */
};

void *handshake_watch(void *zmq, void *sock, const char *name, bool ends) MUST_CHECK;
bool handshake_next(void *watch, enum handshake *out); /* false: nothing more for now */

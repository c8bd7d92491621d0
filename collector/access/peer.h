// SPDX-License-Identifier: Apache-2.0
/* peer.h - the identity that libzmq's ROUTER socket gives a connection: frames go back by it. */
#pragma once

#include <stdint.h>

enum { PEER_MAX = 16 };

struct peer {
	uint8_t len; /* bytes of id; 0: the connection is gone */
	uint8_t id[PEER_MAX];
};

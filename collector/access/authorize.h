// SPDX-License-Identifier: Apache-2.0
/*
 * authorize.h - accepts or refuses a message by the CURVE key of its connection.
 *
 * An approved key may send for its own node only. Any other key may send HELLO; the key registry
 * decides on it, and a refusal is answered by REFUSED with the reason. Other messages of such a key
 * are dropped and counted. Runs in the loop's thread.
 */
#pragma once

#include "lib/wire/wire.h"
#include "collector/access/own_keys.h"
#include "collector/access/key_registry.h"
#include "collector/access/router.h"

struct authorize {
	struct router *router;
	struct key_registry *registry;
	const struct own_keys *own;
	struct key_registry_entry who; /* sender of the current message, once accepted */
	struct buf out;
};

void authorize_ask(struct ask *out, const struct sender *from, const struct wire_hello *h);
bool authorize_hello(struct authorize *a, const struct ask *q); /* true: accept it now */
bool authorize_answer(struct authorize *a,
		      struct ask *out); /* true: accept *out, a HELLO that waited */

bool authorize_message(struct authorize *a, const struct sender *from); /* other than HELLO */
bool authorize_node(struct authorize *a, uint64_t node); /* the key may send for node */
bool authorize_has_news(const struct authorize *a); /* news about keys is due */
void authorize_send_keys(struct authorize *a, struct peer *to, uint64_t node, uint64_t epoch,
			 const char *taken);

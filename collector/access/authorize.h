// SPDX-License-Identifier: Apache-2.0
/*
 * authorize.h - whether what comes in is taken, by the key that it came with.
 *
 * An approved key may speak for its own node and for no other. Any other key may say HELLO, which
 * the roster decides on; it is answered by REFUSED, with the reason. All else of it is dropped and
 * counted. Runs in the loop's thread.
 */
#pragma once

#include "lib/wire/wire.h"
#include "collector/access/own_keys.h"
#include "collector/access/key_registry.h"
#include "collector/access/router.h"

struct authorize {
	struct router *router;
	struct key_registry *roster;
	const struct own_keys *own;
	struct key_registry_entry who; /* of the message at hand, once it was admitted */
	struct buf out;
};

void authorize_ask(struct ask *out, const struct sender *from, const struct wire_hello *h);
bool authorize_hello(struct authorize *a, const struct ask *q); /* true: take it now */
bool authorize_answer(struct authorize *a, struct ask *out); /* true: take this one, which had to wait */

bool authorize_message(struct authorize *a, const struct sender *from); /* any other than HELLO */
bool authorize_node(struct authorize *a, uint64_t node); /* and whom it speaks for */
bool authorize_has_news(const struct authorize *a); /* it is to be told something about keys */
void authorize_tell_keys(struct authorize *a, struct peer *to, uint64_t node, uint64_t epoch,
		     const char *taken);

// SPDX-License-Identifier: Apache-2.0
/*
 * admit.h - whether what comes in is taken, by the key that it came with.
 *
 * An approved key may speak for its own node and for no other. Any other key may say HELLO, which
 * the roster decides on; it is answered by REFUSED, with the reason. All else of it is dropped and
 * counted. Runs in the loop's thread.
 */
#pragma once

#include "lib/wire/wire.h"
#include "collector/access/own_keys.h"
#include "collector/access/roster.h"
#include "collector/access/router.h"

struct admit {
	struct router *router;
	struct roster *roster;
	const struct own_keys *own;
	struct roster_entry who; /* of the message at hand, once it was admitted */
	struct buf out;
};

void admit_ask(struct ask *out, const struct sender *from, const struct wire_hello *h);
bool admit_hello(struct admit *a, const struct ask *q); /* true: take it now */
bool admit_answer(struct admit *a, struct ask *out); /* true: take this one, which had to wait */

bool admit_message(struct admit *a, const struct sender *from); /* any other than HELLO */
bool admit_node(struct admit *a, uint64_t node); /* and whom it speaks for */
bool admit_has_news(const struct admit *a); /* it is to be told something about keys */
void admit_tell_keys(struct admit *a, struct peer *to, uint64_t node, uint64_t epoch,
		     const char *taken);

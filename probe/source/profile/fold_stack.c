// SPDX-License-Identifier: Apache-2.0
#include "probe/source/profile/fold_stack.h"

#include "lib/base/hash.h"
#include "probe/core/sink.h"

/* Computed from the function names alone: the same on every node. */
static uint64_t id_of(const struct stack_item *s)
{
	uint64_t h = hash_add(HASH_START, &s->flags, sizeof(s->flags));

	for (uint32_t i = 0; i < s->n; i++)
		h = hash_add_str(h, s->frame[i]);
	return hash_end(h);
}

uint64_t fold_send_stack(struct fold_common *c, struct stack_item *s)
{
	if (!s->n)
		return 0;
	s->id = id_of(s);
	if (stack_dedup_is_known(&c->sent, s->id, c->now_ns))
		return s->id;
	sink_stack(c->out, s);
	stack_dedup_add(&c->sent, s->id, c->now_ns);
	return s->id;
}

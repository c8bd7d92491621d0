// SPDX-License-Identifier: Apache-2.0
/*
 * event_param.h - appends parameters to an event, and computes event ids. Keys and texts are not
 * copied: they must live until the event is put into a sink.
 */
#pragma once

#include <assert.h>

#include "lib/base/hash.h"
#include "lib/wire/item.h"

static inline void event_put(struct event_item *e, struct param p)
{
	assert(e->nparams < ITEM_MAX_PARAMS);
	e->params[e->nparams++] = p;
}

static inline void event_number(struct event_item *e, const char *key, double number)
{
	event_put(e, (struct param){ .key = key, .number = number });
}

static inline void event_ms(struct event_item *e, const char *key, uint64_t us)
{
	event_number(e, key, (double)us / 1000);
}

/* text "": not known, sent as "?". */
static inline void event_text(struct event_item *e, const char *key, const char *text)
{
	event_put(e, (struct param){ .key = key, .text = text[0] ? text : "?" });
}

/* The id of an event of this kind with this start: no two of a kind start at the same time. */
static inline uint64_t event_id(const char *kind, uint64_t start_ns)
{
	uint64_t h = hash_add_str(HASH_START, kind);

	return hash_end(hash_add(h, &start_ns, sizeof(start_ns)));
}

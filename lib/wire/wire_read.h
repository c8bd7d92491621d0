// SPDX-License-Identifier: Apache-2.0
/*
 * wire_read.h - readers shared by wire_decode.c, wire_body.c, wire_relay.c and wire_request.c;
 * private to these.
 *
 * Like the cursor below them, they return 0 or NULL once it has gone bad. Text readers keep the
 * first error in *r: -EBADMSG for bytes that break a limit, -ENOMEM for a full arena.
 */
#pragma once

#include "lib/wire/mp.h"
#include "lib/wire/wire.h"

static inline void wire_read_fail(struct mp *m)
{
	m->bad = true;
	m->p = m->end;
}

/* The database stores whole numbers in signed columns. */
static inline uint64_t wire_read_u64(struct mp *m)
{
	return mp_uint_max(m, INT64_MAX);
}

static inline uint32_t wire_read_u32(struct mp *m)
{
	return (uint32_t)mp_uint_max(m, INT32_MAX);
}

const char *wire_read_name(struct mp *m, struct arena *a, int *r); /* <= ITEM_MAX_NAME */
const char *wire_read_key(struct mp *m, struct arena *a, int *r); /* a name that is not "" */
const char *wire_read_text(struct mp *m, struct arena *a, size_t max, int *r);

struct addr wire_read_addr(struct mp *m);
int wire_read_metrics(struct mp *m, struct arena *a, struct wire_dict *d); /* 1 and more */

/*
 * more: in, the number of fields beyond the original ones; out, of those unknown to this version.
 */
int wire_read_request(struct mp *m, struct arena *a, struct request_item *q, uint32_t *more);
int wire_read_stack(struct mp *m, struct arena *a, struct stack_item *s);
int wire_read_origin(struct mp *m, struct arena *a, struct origin_item *o);
int wire_read_region(struct mp *m, struct arena *a, struct region_item *q, uint32_t *more);
int wire_read_node(struct mp *m, struct arena *a, struct node_item *q);
int wire_read_incident(struct mp *m, struct arena *a, struct incident_item *q);
int wire_read_rollup(struct mp *m, struct arena *a, struct rollup_item *q);
int wire_read_event(struct mp *m, struct arena *a, struct event_item *e, uint32_t *more);

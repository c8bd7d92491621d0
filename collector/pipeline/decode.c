// SPDX-License-Identifier: Apache-2.0
/* decode.c - decodes a body to items and cleans their texts, so that PostgreSQL accepts them. */
#include "collector/pipeline/stage.h"

#include "lib/base/text.h"

static void clean(struct arena *a, const char **s)
{
	if (*s)
		*s = text_clean(a, *s, strlen(*s));
}

static void clean_params(struct arena *a, struct param *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		clean(a, &p[i].key);
		clean(a, &p[i].text);
	}
}

static void clean_evidence(struct arena *a, struct evidence_item *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		clean(a, &e[i].comm);
		clean(a, &e[i].call);
		clean(a, &e[i].what);
		clean(a, &e[i].who);
	}
}

static void clean_event(struct arena *a, struct event_item *e)
{
	clean(a, &e->kind);
	clean(a, &e->comm);
	clean_params(a, e->params, e->nparams);
	clean_evidence(a, e->evidence, e->nevidence);
}

static void clean_stack(struct arena *a, struct stack_item *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		clean(a, &s->frame[i]);
}

static void clean_request(struct arena *a, struct request_item *q)
{
	clean(a, &q->app);
	clean(a, &q->comm);
	clean(a, &q->method);
	clean(a, &q->path);
	clean(a, &q->route);
	clean(a, &q->trace);
	clean(a, &q->sent_id);
	clean_params(a, q->params, q->nparams);
	for (uint32_t i = 0; i < q->nchecks; i++)
		clean(a, &q->checks[i].why);
	clean_evidence(a, q->evidence, q->nevidence);
}

static void clean_places(struct arena *a, struct place_item *item)
{
	for (uint32_t i = 0; i < item->n; i++)
		clean(a, &item->places[i].app);
}

static void clean_origin(struct arena *a, struct origin_item *o)
{
	clean(a, &o->name);
	for (uint32_t i = 0; i < o->hops; i++)
		clean(a, &o->region[i]);
}

static void clean_node(struct arena *a, struct node_item *n)
{
	struct tag_item *tags = arena_alloc(a, n->ntags * sizeof(*tags));

	clean(a, &n->name);
	clean(a, &n->machine);
	clean(a, &n->version);
	for (uint32_t i = 0; i < n->ntags; i++) {
		tags[i] = n->tags[i];
		clean(a, &tags[i].key);
		clean(a, &tags[i].value);
		clean(a, &tags[i].said_by);
	}
	n->tags = tags;
}

static void clean_incident(struct arena *a, struct incident_item *q)
{
	struct signal_item *signals = arena_alloc(a, q->nsignals * sizeof(*signals));

	clean(a, &q->text);
	for (uint32_t i = 0; i < q->hops; i++)
		clean(a, &q->region[i]);
	for (uint32_t i = 0; i < q->nsignals; i++) {
		signals[i] = q->signals[i];
		clean(a, &signals[i].app);
		clean(a, &signals[i].route);
		clean(a, &signals[i].class);
	}
	q->signals = signals;
}

static void clean_rollup(struct arena *a, struct rollup_item *q)
{
	struct rolled_entity *e = arena_alloc(a, q->nentities * sizeof(*e));
	struct wire_metric *m = arena_alloc(a, q->nmetrics * sizeof(*m));

	clean(a, &q->kind);
	for (uint32_t i = 0; i < q->nentities; i++) {
		e[i] = q->entities[i];
		clean(a, &e[i].name);
	}
	for (uint32_t i = 0; i < q->nmetrics; i++) {
		m[i] = q->metrics[i];
		clean(a, &m[i].name);
		clean(a, &m[i].unit);
	}
	q->entities = e;
	q->metrics = m;
}

static void clean_relayed(struct arena *a, struct wire_body *items)
{
	for (uint32_t i = 0; i < items->norigins; i++)
		clean_origin(a, &items->origins[i]);
	for (uint32_t i = 0; i < items->nregions; i++) {
		clean(a, &items->regions[i].name);
		clean(a, &items->regions[i].console);
	}
	for (uint32_t i = 0; i < items->nnodes; i++)
		clean_node(a, &items->nodes[i]);
	for (uint32_t i = 0; i < items->nincidents; i++)
		clean_incident(a, &items->incidents[i]);
	for (uint32_t i = 0; i < items->nrollups; i++)
		clean_rollup(a, &items->rollups[i]);
}

static void clean_all(struct arena *a, struct wire_body *items)
{
	for (uint32_t i = 0; i < items->nsamples; i++)
		clean(a, &items->samples[i].entity);
	for (uint32_t i = 0; i < items->nreds; i++) {
		clean(a, &items->reds[i].app);
		clean(a, &items->reds[i].route);
		clean(a, &items->reds[i].peer);
	}
	for (uint32_t i = 0; i < items->nrequests; i++)
		clean_request(a, &items->requests[i]);
	for (uint32_t i = 0; i < items->nsources; i++) {
		clean(a, &items->sources[i].name);
		clean(a, &items->sources[i].why);
	}
	for (uint32_t i = 0; i < items->nunreads; i++) {
		clean(a, &items->unreads[i].app);
		clean(a, &items->unreads[i].kind);
	}
	for (uint32_t i = 0; i < items->nprofiles; i++)
		clean(a, &items->profiles[i].app);
	for (uint32_t i = 0; i < items->nstacks; i++)
		clean_stack(a, &items->stacks[i]);
	for (uint32_t i = 0; i < items->nevents; i++)
		clean_event(a, &items->events[i]);
	for (uint32_t i = 0; i < items->nplaces; i++)
		clean_places(a, &items->places[i]);
	clean_relayed(a, items);
}

static int decode_run(void *self UNUSED, struct batch *b)
{
	int r = wire_body_decode(b->arena, zmq_msg_data(&b->body), zmq_msg_size(&b->body),
				 &b->items);

	if (r < 0) {
		b->items = (struct wire_body){ 0 };
		b->malformed = r == -ENOMEM ? "the decoded body is larger than a batch may be"
					    : "the body cannot be read";
		return r;
	}
	clean_all(b->arena, &b->items);
	counter_add(C_ITEMS_UNKNOWN, b->items.nunknown);
	return STAGE_NEXT;
}

const struct stage stage_decode = {
	.name = "decode",
	.run = decode_run,
	STAGE_COUNTERS(DECODE),
};

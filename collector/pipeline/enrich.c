// SPDX-License-Identifier: Apache-2.0
/* enrich.c - finds the layout of each sample. Region and tags belong to the node. */
#include "collector/pipeline/stage.h"

struct enrich {
	const struct layouts *layouts;
};

static int enrich_open(void *self, const struct stage_env *env)
{
	struct enrich *e = self;

	e->layouts = env->layouts;
	return 0;
}

static void need_layout(struct batch *b, uint64_t layout)
{
	for (uint32_t i = 0; i < b->nneeded; i++)
		if (b->needed[i] == layout)
			return;
	if (b->nneeded < ARRAY_SIZE(b->needed))
		b->needed[b->nneeded++] = layout;
}

/* A relay cannot send layouts: samples of a layout unknown here stay in their region. */
static void drop_unknown(const struct enrich *e, struct batch *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->items.nsamples; i++)
		if (layouts_find(e->layouts, b->items.samples[i].layout))
			b->items.samples[kept++] = b->items.samples[i];
	b->items.nsamples = kept;
}

static int enrich_run(void *self, struct batch *b)
{
	const struct enrich *e = self;

	if (b->origin)
		drop_unknown(e, b);
	b->layout = arena_alloc(b->arena, b->items.nsamples * sizeof(*b->layout));
	b->nneeded = 0;
	for (uint32_t i = 0; i < b->items.nsamples; i++) {
		const struct sample_item *s = &b->items.samples[i];

		b->layout[i] = layouts_find(e->layouts, s->layout);
		if (!b->layout[i])
			need_layout(b, s->layout);
		else if (s->n != b->layout[i]->n)
			b->malformed = "the number of values in a sample differs from its layout";
	}
	if (b->malformed)
		return -EBADMSG;
	return b->nneeded ? -ENOKEY : STAGE_NEXT;
}

const struct stage stage_enrich = {
	.name = "enrich",
	.size = sizeof(struct enrich),
	.open = enrich_open,
	.run = enrich_run,
	STAGE_COUNTERS(ENRICH),
};

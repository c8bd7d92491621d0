// SPDX-License-Identifier: Apache-2.0
/* enrich.c - what the numbers mean: the layout of each sample. Region and tags are the node's. */
#include "stage.h"

struct enrich {
	const struct layouts *layouts;
};

static int enrich_open(void *self, const struct stage_env *env)
{
	struct enrich *e = self;

	e->layouts = env->layouts;
	return 0;
}

static int enrich_run(void *self, struct batch *b)
{
	const struct enrich *e = self;

	b->layout = arena_alloc(b->arena, b->items.nsamples * sizeof(*b->layout));
	for (uint32_t i = 0; i < b->items.nsamples; i++) {
		const struct sample_item *s = &b->items.samples[i];

		b->layout[i] = layouts_find(e->layouts, s->layout);
		if (!b->layout[i]) {
			b->need_layout = s->layout;
			return -ENOKEY;
		}
		if (s->n != b->layout[i]->n) {
			b->poison = "a sample has another number of values than its layout";
			return -EBADMSG;
		}
	}
	return STAGE_NEXT;
}

const struct stage stage_enrich = {
	.name = "enrich",
	.size = sizeof(struct enrich),
	.open = enrich_open,
	.run = enrich_run,
	STAGE_COUNTERS(ENRICH),
};

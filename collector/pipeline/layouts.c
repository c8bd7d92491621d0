// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/layouts.h"

#include "lib/base/log.h"
#include "lib/base/text.h"
#include "collector/core/pairmap.h"

enum { MAX_LAYOUTS = 4096 };

struct layouts {
	struct pairmap *map;
	struct arena *arena; /* all texts, never reset */
};

struct layouts *layouts_new(void)
{
	struct layouts *l = calloc(1, sizeof(*l));

	if (!l)
		die("out of memory");
	l->map = pairmap_new(sizeof(struct layout));
	l->arena = arena_new(SIZE_MAX);
	return l;
}

void layouts_free(struct layouts *l)
{
	if (!l)
		return;
	pairmap_free(l->map);
	arena_free(l->arena);
	free(l);
}

const struct layout *layouts_find(const struct layouts *l, uint64_t id)
{
	return pairmap_find(l->map, id, 0);
}

int layouts_add(struct layouts *l, const struct wire_dict *d)
{
	struct wire_metric *m;
	struct layout *to;

	if (layouts_find(l, d->layout))
		return 0;
	if (pairmap_count(l->map) >= MAX_LAYOUTS)
		return -ENOSPC;
	m = arena_alloc(l->arena, d->n * sizeof(*m));
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_metric *from = &d->metrics[i];

		m[i] = (struct wire_metric){
			.name = text_clean(l->arena, from->name, strlen(from->name)),
			.unit = text_clean(l->arena, from->unit, strlen(from->unit)),
			.kind = from->kind,
		};
	}
	to = pairmap_add(l->map, d->layout, 0);
	to->id = d->layout;
	to->kind = text_clean(l->arena, d->entity_kind, strlen(d->entity_kind));
	to->metrics = m;
	to->n = d->n;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_layout.h"

#include <stdio.h>

#include "probe/core/layout.h"

struct making {
	struct custom_layout *l;
	const char *path;
	char *err;
	size_t errlen;
};

static int add_value(struct making *k, const struct custom_metric *m, const char *name)
{
	struct custom_layout *l = k->l;
	const char *wrong = NULL;

	if (l->dict.n == ITEM_MAX_VALUES)
		wrong = "one more than the 128 values of a map that are allowed";
	else if (layout_has(name))
		wrong = "a metric of Seismo's own has that name: choose another";
	for (uint32_t i = 0; i < l->dict.n && !wrong; i++)
		if (strcmp(l->name[i], name) == 0)
			wrong = "another value of this map has that name";
	if (wrong) {
		snprintf(k->err, k->errlen, "%s:%d: %s: %s", k->path, m->line, name, wrong);
		return -EINVAL;
	}
	snprintf(l->name[l->dict.n], ITEM_MAX_NAME, "%s", name);
	l->metric[l->dict.n] =
		(struct wire_metric){ l->name[l->dict.n], m->unit,
				      m->kind == CUSTOM_GAUGE ? METRIC_GAUGE : METRIC_COUNTER };
	l->dict.n++;
	return 0;
}

/* One value per slot, named by its upper edge; the last has none. */
static int add_slots(struct making *k, const struct custom_metric *m)
{
	char name[ITEM_MAX_NAME];
	int r = 0;

	for (uint32_t i = 0; i < m->at.n && r == 0; i++) {
		if (i + 1 < m->at.n)
			snprintf(name, sizeof(name), "%s_%llu", m->name, 1ull << (m->first + i));
		else
			snprintf(name, sizeof(name), "%s_more", m->name);
		r = add_value(k, m, name);
	}
	return r;
}

int custom_layout_make(struct custom_layout *l, const struct custom_manifest *m, uint32_t map,
		       const char *kind, const char *path, char *err, size_t errlen)
{
	struct making k = { l, path, err, errlen };
	int r = 0;

	l->dict = (struct wire_dict){ .entity_kind = kind, .metrics = l->metric };
	for (uint32_t i = 0; i < m->nmetrics && r == 0; i++) {
		if (m->metric[i].map != map)
			continue;
		r = m->metric[i].kind == CUSTOM_HISTOGRAM
			    ? add_slots(&k, &m->metric[i])
			    : add_value(&k, &m->metric[i], m->metric[i].name);
	}
	l->dict.layout = r == 0 ? wire_layout_id(&l->dict) : 0;
	return r;
}

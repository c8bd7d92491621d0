// SPDX-License-Identifier: Apache-2.0
#include "taskio_table.h"

#include <assert.h>
#include <stdio.h>

#include "../lib/log.h"
#include "cgroup_path.h"

enum { TAIL = 200 }; /* of a path that the kernel side cut */

struct taskio_one {
	unsigned char key[TASKIO_KEY];
	char *name;
	uint64_t told[TASKIO_FIELDS];
	double since[TASKIO_FIELDS];
	uint32_t idle; /* ticks in which nothing came */
};

void taskio_table_free(struct taskio_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->one[i].name);
	free(t->one);
	*t = (struct taskio_table){ 0 };
}

static struct taskio_one *find(const struct taskio_table *t, const void *key)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (memcmp(t->one[i].key, key, TASKIO_KEY) == 0)
			return &t->one[i];
	return NULL;
}

bool taskio_knows(const struct taskio_table *t, const void *key)
{
	return find(t, key);
}

static struct taskio_one *add(struct taskio_table *t, const void *key, const char *name)
{
	struct taskio_one *o;

	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 32;
		t->one = reallocarray(t->one, t->room, sizeof(*t->one));
		if (!t->one)
			die("out of memory");
	}
	o = &t->one[t->n++];
	*o = (struct taskio_one){ .name = strdup(name) };
	if (!o->name)
		die("out of memory");
	memcpy(o->key, key, TASKIO_KEY);
	return o;
}

bool taskio_seen(struct taskio_table *t, const void *key, const char *name,
		 const struct taskio *sum)
{
	struct taskio_one *o = find(t, key);
	bool idle = true;

	assert(o || name);
	if (!o)
		o = add(t, key, name);
	for (int i = 0; i < TASKIO_FIELDS; i++) {
		o->since[i] = (double)(sum->v[i] - o->told[i]);
		idle &= sum->v[i] == o->told[i];
		o->told[i] = sum->v[i];
	}
	o->idle = idle ? o->idle + 1 : 0;
	if (o->idle < TASKIO_KEPT_TICKS || o->name[0] == '(')
		return true; /* "(others)" always has a place in the kernel */
	free(o->name);
	*o = t->one[--t->n];
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct taskio_one *)a)->name, ((const struct taskio_one *)b)->name);
}

void taskio_tell(struct taskio_table *t, const struct wire_dict *layout, struct sink *out)
{
	assert(layout->n == TASKIO_FIELDS);
	if (t->n)
		qsort(t->one, t->n, sizeof(*t->one), by_name);
	for (uint32_t i = 0, next; i < t->n; i = next) {
		double v[TASKIO_FIELDS] = { 0 };
		bool told = false;

		for (next = i; next < t->n && strcmp(t->one[i].name, t->one[next].name) == 0;
		     next++) {
			told |= t->one[next].idle < TASKIO_TOLD_TICKS;
			for (int k = 0; k < TASKIO_FIELDS; k++)
				v[k] += t->one[next].since[k];
		}
		if (told)
			sink_sample(out, &(struct sample_item){ layout->layout, t->one[i].name,
								layout->n, v });
	}
}

void taskio_path(const struct taskio_cgroup *c, uint64_t id, char text[static ITEM_MAX_TEXT])
{
	char path[TASKIO_PATH + TASKIO_PARTS];
	size_t at = sizeof(path) - 1, len = c->len < TASKIO_PATH ? c->len : TASKIO_PATH;

	path[at] = 0;
	for (const char *p = c->path, *end = p + len; p < end && *p; p += strlen(p) + 1) {
		size_t n = strnlen(p, (size_t)(end - p));

		if (n == (size_t)(end - p) || n + 1 > at)
			break; /* not ended: cut */
		at -= n;
		memcpy(path + at, p, n);
		path[--at] = '/';
	}
	if (c->cut)
		snprintf(text, ITEM_MAX_TEXT, "~%016llx%.*s", (unsigned long long)id, TAIL,
			 path + (at + TAIL < sizeof(path) ? sizeof(path) - 1 - TAIL : at));
	else
		cgroup_entity(path[at] ? path + at : "/", text);
}

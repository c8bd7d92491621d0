// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/sums.h"

#include <assert.h>

#include "lib/base/log.h"

struct sums_one {
	unsigned char key[SUMS_KEY];
	char *name;
	__u64 *last; /* the sums at the last tick */
	int64_t *since; /* their change in the last tick */
	uint32_t idle; /* ticks in a row without a change */
};

static void free_one(struct sums_one *o)
{
	free(o->name);
	free(o->last);
	free(o->since);
}

void sums_free(struct sums *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free_one(&t->one[i]);
	free(t->one);
	t->one = NULL;
	t->n = t->room = 0;
}

static struct sums_one *find_key(const struct sums *t, const void *key)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (memcmp(t->one[i].key, key, t->nkey) == 0)
			return &t->one[i];
	return NULL;
}

bool sums_knows(const struct sums *t, const void *key)
{
	return find_key(t, key);
}

static struct sums_one *add_key(struct sums *t, const void *key, const char *name)
{
	struct sums_one *o;

	assert(t->nkey <= SUMS_KEY && t->nfields <= SUMS_FIELDS);
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 32;
		t->one = reallocarray(t->one, t->room, sizeof(*t->one));
		if (!t->one)
			die("out of memory");
	}
	o = &t->one[t->n++];
	*o = (struct sums_one){ .name = strdup(name),
				.last = calloc(t->nfields, sizeof(*o->last)),
				.since = calloc(t->nfields, sizeof(*o->since)) };
	if (!o->name || !o->last || !o->since)
		die("out of memory");
	memcpy(o->key, key, t->nkey);
	return o;
}

bool sums_seen(struct sums *t, const void *key, const char *name, const __u64 *sum, bool held)
{
	struct sums_one *o = find_key(t, key);
	bool idle = true;

	assert(o || name);
	if (!o)
		o = add_key(t, key, name);
	for (uint32_t i = 0; i < t->nfields; i++) {
		o->since[i] = (int64_t)(sum[i] - o->last[i]);
		idle &= sum[i] == o->last[i];
		o->last[i] = sum[i];
	}
	o->idle = idle ? o->idle + 1 : 0;
	if (o->idle < SUMS_KEPT_TICKS || held)
		return true;
	free_one(o);
	*o = t->one[--t->n];
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sums_one *)a)->name, ((const struct sums_one *)b)->name);
}

void sums_report(struct sums *t,
		 void (*report)(void *arg, const char *name, const double *since,
				const double *all),
		 void *arg)
{
	if (t->n)
		qsort(t->one, t->n, sizeof(*t->one), by_name);
	for (uint32_t i = 0, next; i < t->n; i = next) {
		double since[SUMS_FIELDS] = { 0 }, all[SUMS_FIELDS] = { 0 };
		bool active = false;

		for (next = i; next < t->n && strcmp(t->one[i].name, t->one[next].name) == 0;
		     next++) {
			active |= t->one[next].idle < SUMS_REPORTED_TICKS;
			for (uint32_t k = 0; k < t->nfields; k++) {
				since[k] += (double)t->one[next].since[k];
				all[k] += (double)t->one[next].last[k];
			}
		}
		if (active)
			report(arg, t->one[i].name, since, all);
	}
}

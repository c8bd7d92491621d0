// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/sums.h"

#include <assert.h>

#include "lib/base/log.h"

struct sums_one {
	unsigned char key[SUMS_KEY];
	char *name;
	__u64 *told;
	int64_t *since;
	uint32_t idle; /* ticks in which nothing came */
};

static void free_one(struct sums_one *o)
{
	free(o->name);
	free(o->told);
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

static struct sums_one *find(const struct sums *t, const void *key)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (memcmp(t->one[i].key, key, t->nkey) == 0)
			return &t->one[i];
	return NULL;
}

bool sums_knows(const struct sums *t, const void *key)
{
	return find(t, key);
}

static struct sums_one *add(struct sums *t, const void *key, const char *name)
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
				.told = calloc(t->nfields, sizeof(*o->told)),
				.since = calloc(t->nfields, sizeof(*o->since)) };
	if (!o->name || !o->told || !o->since)
		die("out of memory");
	memcpy(o->key, key, t->nkey);
	return o;
}

bool sums_seen(struct sums *t, const void *key, const char *name, const __u64 *sum, bool held)
{
	struct sums_one *o = find(t, key);
	bool idle = true;

	assert(o || name);
	if (!o)
		o = add(t, key, name);
	for (uint32_t i = 0; i < t->nfields; i++) {
		o->since[i] = (int64_t)(sum[i] - o->told[i]);
		idle &= sum[i] == o->told[i];
		o->told[i] = sum[i];
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

void sums_tell(struct sums *t,
	       void (*tell)(void *arg, const char *name, const double *since, const double *all),
	       void *arg)
{
	if (t->n)
		qsort(t->one, t->n, sizeof(*t->one), by_name);
	for (uint32_t i = 0, next; i < t->n; i = next) {
		double since[SUMS_FIELDS] = { 0 }, all[SUMS_FIELDS] = { 0 };
		bool told = false;

		for (next = i; next < t->n && strcmp(t->one[i].name, t->one[next].name) == 0;
		     next++) {
			told |= t->one[next].idle < SUMS_TOLD_TICKS;
			for (uint32_t k = 0; k < t->nfields; k++) {
				since[k] += (double)t->one[next].since[k];
				all[k] += (double)t->one[next].told[k];
			}
		}
		if (told)
			tell(arg, t->one[i].name, since, all);
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/core/pairmap.h"

#include "lib/base/log.h"

enum { FIRST_BUCKETS = 64 };

struct pair {
	struct pair *next;
	uint64_t a, b;
	_Alignas(16) unsigned char value[];
};

struct pairmap {
	struct pair **bucket;
	size_t nbuckets; /* a power of two */
	size_t count, value_size;
};

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

struct pairmap *pairmap_new(size_t value_size)
{
	struct pairmap *m = zeroed(1, sizeof(*m));

	m->value_size = value_size;
	m->nbuckets = FIRST_BUCKETS;
	m->bucket = zeroed(m->nbuckets, sizeof(struct pair *));
	return m;
}

void pairmap_forget(struct pairmap *m)
{
	for (size_t i = 0; i < m->nbuckets; i++) {
		for (struct pair *p = m->bucket[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
		m->bucket[i] = NULL;
	}
	m->count = 0;
}

void pairmap_free(struct pairmap *m)
{
	if (!m)
		return;
	pairmap_forget(m);
	free(m->bucket);
	free(m);
}

static struct pair **slot(struct pair **bucket, size_t n, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;

	return &bucket[(h ^ h >> 32) & (n - 1)];
}

static struct pair *find_pair(const struct pairmap *m, uint64_t a, uint64_t b)
{
	struct pair *p = *slot(m->bucket, m->nbuckets, a, b);

	while (p && (p->a != a || p->b != b))
		p = p->next;
	return p;
}

void *pairmap_find(const struct pairmap *m, uint64_t a, uint64_t b)
{
	struct pair *p = find_pair(m, a, b);

	return p ? p->value : NULL;
}

static void grow(struct pairmap *m)
{
	size_t n = m->nbuckets * 2;
	struct pair **bucket = zeroed(n, sizeof(struct pair *));

	for (size_t i = 0; i < m->nbuckets; i++) {
		for (struct pair *p = m->bucket[i], *next; p; p = next) {
			struct pair **to = slot(bucket, n, p->a, p->b);

			next = p->next;
			p->next = *to;
			*to = p;
		}
	}
	free(m->bucket);
	m->bucket = bucket;
	m->nbuckets = n;
}

void *pairmap_add(struct pairmap *m, uint64_t a, uint64_t b)
{
	struct pair *p = find_pair(m, a, b), **to;

	if (p)
		return p->value;
	if (m->count >= m->nbuckets)
		grow(m);
	p = zeroed(1, sizeof(*p) + m->value_size);
	p->a = a;
	p->b = b;
	to = slot(m->bucket, m->nbuckets, a, b);
	p->next = *to;
	*to = p;
	m->count++;
	return p->value;
}

size_t pairmap_count(const struct pairmap *m)
{
	return m->count;
}

void pairmap_each(struct pairmap *m, pairmap_keep *keep, void *arg)
{
	for (size_t i = 0; i < m->nbuckets; i++) {
		struct pair **p = &m->bucket[i];

		while (*p) {
			struct pair *one = *p;

			if (keep(arg, one->a, one->b, one->value)) {
				p = &one->next;
				continue;
			}
			*p = one->next;
			free(one);
			m->count--;
		}
	}
}

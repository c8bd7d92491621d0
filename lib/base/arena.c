// SPDX-License-Identifier: Apache-2.0
#include "lib/base/arena.h"

#include "lib/base/log.h"

enum { CHUNK = 64 * 1024, ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	size_t used;
	_Alignas(ALIGN) unsigned char data[];
};

struct arena {
	struct arena_chunk *head;
	size_t used;
	size_t limit;
};

struct arena *arena_new(size_t limit)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		die("out of memory");
	a->limit = limit;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (struct arena_chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

/* Keep the first chunk, so a steady stream of batches stops calling malloc. */
void arena_reset(struct arena *a)
{
	struct arena_chunk *c = a->head;

	while (c && c->next) {
		struct arena_chunk *next = c->next;

		free(c);
		c = next;
	}
	if (c)
		c->used = 0;
	a->head = c;
	a->used = 0;
}

static void *take(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->head;
	size_t want = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	void *p;

	if (!c || c->size - c->used < want) {
		size_t room = want > CHUNK ? want : CHUNK;

		c = malloc(sizeof(*c) + room);
		if (!c)
			die("out of memory");
		*c = (struct arena_chunk){ .next = a->head, .size = room };
		a->head = c;
	}
	p = c->data + c->used;
	c->used += want;
	a->used += want;
	return memset(p, 0, size);
}

void *arena_alloc(struct arena *a, size_t size)
{
	return take(a, size);
}

int arena_try(struct arena *a, size_t n, size_t size, void **out)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) || a->used > a->limit ||
	    total > a->limit - a->used)
		return -ENOMEM;
	*out = take(a, total);
	return 0;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	return memcpy(arena_alloc(a, len + 1), s, len);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/function_cache.h"

#include "probe/procfs/sparse_array.h"

enum { TEXT_BYTES = 96 * 1024 };

struct function {
	uint64_t space, from, to;
	uint32_t text; /* offset in texts */
	bool passing;
};

struct function_cache {
	uint32_t n, len; /* len: of texts */
	struct function one[FUNCTIONS_MAX]; /* sorted by space and from */
	char texts[TEXT_BYTES];
};

struct function_cache *function_cache_new(void)
{
	struct function_cache *f = sparse_array_new(sizeof(*f));

	return f;
}

void function_cache_free(struct function_cache *f)
{
	sparse_array_free(f, sizeof(*f));
}

static bool is_before(const struct function *a, uint64_t space, uint64_t at)
{
	return a->space != space ? a->space < space : a->from <= at;
}

/* The number of functions that begin at or before the address. */
static uint32_t count_before(const struct function_cache *f, uint64_t space, uint64_t at)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (is_before(&f->one[mid], space, at))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const char *function_cache_find(const struct function_cache *f, uint64_t space, uint64_t at)
{
	uint32_t n = count_before(f, space, at);
	const struct function *a = n ? &f->one[n - 1] : NULL;

	return a && a->space == space && at < a->to ? f->texts + a->text : NULL;
}

static uint32_t put_text(struct function_cache *f, const char *text)
{
	uint32_t at = f->len;
	size_t len = strlen(text) + 1;

	memcpy(f->texts + at, text, len);
	f->len += (uint32_t)len;
	return at;
}

void function_cache_add(struct function_cache *f, uint64_t space, uint64_t from, uint64_t to,
			const char *text, bool passing)
{
	struct function *a;
	uint32_t n;

	if (f->n == FUNCTIONS_MAX || f->len + strlen(text) >= TEXT_BYTES)
		f->n = f->len = 0;
	n = count_before(f, space, from);
	a = n ? &f->one[n - 1] : NULL;
	if (!a || a->space != space || a->from != from) {
		a = &f->one[n];
		memmove(a + 1, a, (f->n++ - n) * sizeof(*a));
		*a = (struct function){ 0 };
	}
	if (a->to && strcmp(f->texts + a->text, text) == 0)
		a->to = to > a->to ? to : a->to;
	else
		*a = (struct function){ space, from, to, put_text(f, text), passing };
}

void function_cache_forget_passing(struct function_cache *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!f->one[i].passing)
			f->one[n++] = f->one[i];
	f->n = n;
}

// SPDX-License-Identifier: Apache-2.0
#include "red.h"

#include "../lib/hash.h"
#include "../lib/hist.h"
#include "../lib/log.h"

enum { KEYS = 2048, CROWDED = KEYS * 3 / 4, TEXT = 256 };

struct red_slot {
	uint64_t hash; /* 0: free */
	char text[TEXT]; /* app, route, peer, each with its end */
	uint8_t role, status_class;
	bool sent; /* at least once */
	uint64_t count, sum_us;
	uint32_t b[ITEM_MAX_SLOTS];
};

struct red {
	struct red_slot slot[KEYS];
	uint32_t used;
	uint64_t overflow;
};

struct red *red_new(void)
{
	struct red *r = calloc(1, sizeof(*r));

	if (!r)
		die("out of memory");
	return r;
}

void red_free(struct red *r)
{
	free(r);
}

static uint64_t hash_of(const struct red_key *k)
{
	uint64_t h =
		hash_add_str(hash_add_str(hash_add_str(HASH_START, k->app), k->route), k->peer);
	uint8_t tail[2] = { k->role, k->status_class };

	return hash_end(hash_add(h, tail, sizeof(tail)));
}

static bool text_put(struct red_slot *s, const struct red_key *k)
{
	size_t a = strlen(k->app) + 1, b = strlen(k->route) + 1, c = strlen(k->peer) + 1;

	if (a + b + c > TEXT)
		return false;
	memcpy(s->text, k->app, a);
	memcpy(s->text + a, k->route, b);
	memcpy(s->text + a + b, k->peer, c);
	return true;
}

static struct red_slot *slot_of(struct red *r, const struct red_key *k)
{
	uint64_t h = hash_of(k);

	for (size_t i = 0; i < KEYS; i++) {
		struct red_slot *s = &r->slot[(h + i) % KEYS];

		if (s->hash == h)
			return s;
		if (s->hash)
			continue;
		if (r->used == KEYS - 1 || !text_put(s, k))
			return NULL;
		if (r->used >= CROWDED && strcmp(k->route, "(other)") != 0)
			return NULL;
		s->hash = h;
		s->role = k->role;
		s->status_class = k->status_class;
		r->used++;
		return s;
	}
	return NULL;
}

void red_count(struct red *r, const struct red_key *k, uint64_t us)
{
	struct red_key other = { k->app, "(other)", k->peer, k->role, k->status_class };
	struct red_slot *s = slot_of(r, k);

	if (!s)
		s = slot_of(r, &other);
	if (!s) {
		r->overflow++;
		return;
	}
	s->count++;
	s->sum_us += us;
	s->b[hist_slot(us)]++;
}

static void slot_flush(struct red_slot *s, struct sink *out)
{
	const char *route = s->text + strlen(s->text) + 1;
	struct red_item i = { .app = s->text,
			      .route = route,
			      .peer = route + strlen(route) + 1,
			      .role = s->role,
			      .status_class = s->status_class,
			      .count = s->count,
			      .sum_us = s->sum_us };
	uint32_t lo = 0, hi = ITEM_MAX_SLOTS;

	while (s->b[lo] == 0)
		lo++;
	while (s->b[hi - 1] == 0)
		hi--;
	i.lo = (uint8_t)lo;
	i.nb = hi - lo;
	i.b = s->b + lo;
	sink_red(out, &i);
	s->sent = true;
	s->count = s->sum_us = 0;
	memset(s->b, 0, sizeof(s->b));
}

void red_flush(struct red *r, struct sink *out, bool all)
{
	for (size_t i = 0; i < KEYS; i++)
		if (r->slot[i].count && (all || !r->slot[i].sent))
			slot_flush(&r->slot[i], out);
}

uint64_t red_overflow(const struct red *r)
{
	return r->overflow;
}

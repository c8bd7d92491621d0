// SPDX-License-Identifier: Apache-2.0
#include "probe/request/red/red.h"

#include "lib/base/hash.h"
#include "lib/wire/hist.h"
#include "lib/base/log.h"
#include "probe/event/outlier.h"

enum {
	KEYS = 2048,
	CROWDED = KEYS * 3 / 4,
	CLIENTS = 256,
	CLIENT_SLOTS = 2 * CLIENTS, /* includes "(other)" of each app */
	USUALS = 1000,
	EARLY = 10, /* one-off requests, e.g. of scanners, are not learnt */
	TEXT = 256,
	CLASSES = 6,
};

struct red_counts { /* of one status class */
	bool sent; /* at least once */
	uint64_t count, sum_us, excess_us, judged;
	uint32_t b[ITEM_MAX_SLOTS];
};

struct red_slot {
	uint64_t hash;
	uint8_t role, early;
	bool used; /* since the last full flush */
	struct outlier *usual; /* NULL: not learnt */
	struct red_counts *class[CLASSES]; /* NULL: no request yet */
	char text[]; /* app, route, peer, each with a terminating 0 */
};

struct red {
	struct red_slot *slot[KEYS], *client[CLIENT_SLOTS];
	uint32_t used, clients, usuals;
	uint64_t overflow, unjudged;
};

static void *need_memory(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory");
	return p;
}

struct red *red_new(void)
{
	return need_memory(sizeof(struct red));
}

static void slot_free(struct red *r, struct red_slot *s)
{
	if (!s)
		return;
	r->usuals -= s->usual != NULL;
	free(s->usual);
	for (size_t c = 0; c < CLASSES; c++)
		free(s->class[c]);
	free(s);
}

void red_free(struct red *r)
{
	for (size_t i = 0; r && i < KEYS; i++)
		slot_free(r, r->slot[i]);
	for (size_t i = 0; r && i < CLIENT_SLOTS; i++)
		slot_free(r, r->client[i]);
	free(r);
}

static uint64_t hash_of(const struct red_key *k)
{
	uint64_t h =
		hash_add_str(hash_add_str(hash_add_str(HASH_START, k->app), k->route), k->peer);

	return hash_end(hash_add(h, &k->role, sizeof(k->role)));
}

/* The slot of h, or a free one for it; the table is never full. */
static struct red_slot **slot_at(struct red_slot **table, size_t size, uint64_t h)
{
	size_t i = h % size;

	while (table[i] && table[i]->hash != h)
		i = (i + 1) % size;
	return &table[i];
}

static struct red_slot *slot_new(const struct red_key *k, uint64_t h)
{
	size_t a = strlen(k->app) + 1, b = strlen(k->route) + 1, c = strlen(k->peer) + 1;
	struct red_slot *s;

	if (a + b + c > TEXT)
		return NULL;
	s = need_memory(sizeof(*s) + a + b + c);
	s->hash = h;
	s->role = k->role;
	memcpy(s->text, k->app, a);
	memcpy(s->text + a, k->route, b);
	memcpy(s->text + a + b, k->peer, c);
	return s;
}

static struct red_slot *slot_of(struct red *r, const struct red_key *k)
{
	bool client = k->role == RED_SERVED;
	uint64_t h = hash_of(k);
	struct red_slot **at =
		client ? slot_at(r->client, CLIENT_SLOTS, h) : slot_at(r->slot, KEYS, h);
	struct red_slot *s = *at;
	uint32_t *used = client ? &r->clients : &r->used;
	bool full = *used == (client ? CLIENT_SLOTS : KEYS) - 1;
	bool crowded = *used >= (client ? CLIENTS : CROWDED);

	if (s)
		return s;
	if (full || (crowded && strcmp(client ? k->peer : k->route, "(other)") != 0))
		return NULL;
	s = slot_new(k, h);
	*at = s;
	*used += s != NULL;
	return s;
}

static struct red_slot *other_of(struct red *r, struct red_key k)
{
	if (k.role == RED_SERVED)
		k.peer = "(other)";
	else
		k.route = "(other)";
	return slot_of(r, &k);
}

static void judge_duration(struct red *r, struct red_slot *s, struct red_counts *c, uint64_t us,
			   bool failed, uint64_t now_ns)
{
	uint64_t over_us;

	if (s->early < EARLY) {
		s->early++;
		return;
	}
	if (!s->usual) {
		if (r->usuals == USUALS) {
			r->unjudged++;
			return;
		}
		s->usual = need_memory(sizeof(*s->usual));
		r->usuals++;
	}
	if (outlier_judge(s->usual, us, &over_us)) {
		c->judged++;
		c->excess_us += over_us;
	}
	if (!failed)
		outlier_learn(s->usual, us, now_ns);
}

void red_count(struct red *r, const struct red_key *k, uint64_t us, uint64_t now_ns)
{
	struct red_slot *s = slot_of(r, k);
	struct red_counts *c;

	if (!s)
		s = other_of(r, *k);
	if (!s) {
		r->overflow++;
		return;
	}
	s->used = true;
	if (!s->class[k->status_class])
		s->class[k->status_class] = need_memory(sizeof(*c));
	c = s->class[k->status_class];
	c->count++;
	c->sum_us += us;
	c->b[hist_slot(us)]++;
	judge_duration(r, s, c, us, k->failed, now_ns);
}

static void counts_flush(const struct red_slot *s, uint8_t class, struct sink *out)
{
	struct red_counts *c = s->class[class];
	const char *route = s->text + strlen(s->text) + 1;
	struct red_item i = { .app = s->text,
			      .route = route,
			      .peer = route + strlen(route) + 1,
			      .role = s->role,
			      .status_class = class,
			      .count = c->count,
			      .sum_us = c->sum_us,
			      .excess_us = c->excess_us,
			      .judged = c->judged };
	uint32_t lo = 0, hi = ITEM_MAX_SLOTS;

	while (c->b[lo] == 0)
		lo++;
	while (c->b[hi - 1] == 0)
		hi--;
	i.lo = (uint8_t)lo;
	i.nb = hi - lo;
	i.b = c->b + lo;
	sink_red(out, &i);
	*c = (struct red_counts){ .sent = true };
}

static void slot_flush(struct red_slot *s, struct sink *out, bool all)
{
	for (uint8_t i = 0; s && i < CLASSES; i++)
		if (s->class[i] && s->class[i] -> count && (all || !s->class[i] -> sent))
			counts_flush(s, i, out);
	if (s && all)
		s->used = false;
}

/* Removes clients without requests since the last full flush, once the table is half full. */
static void clients_sweep(struct red *r)
{
	struct red_slot *old[CLIENT_SLOTS];

	if (r->clients < CLIENTS / 2)
		return;
	memcpy(old, r->client, sizeof(old));
	memset(r->client, 0, sizeof(r->client));
	r->clients = 0;
	for (size_t i = 0; i < CLIENT_SLOTS; i++) {
		if (!old[i])
			continue;
		if (!old[i]->used) {
			slot_free(r, old[i]);
			continue;
		}
		*slot_at(r->client, CLIENT_SLOTS, old[i]->hash) = old[i];
		r->clients++;
	}
}

void red_flush(struct red *r, struct sink *out, bool all)
{
	if (all)
		clients_sweep(r);
	for (size_t i = 0; i < KEYS; i++)
		slot_flush(r->slot[i], out, all);
	for (size_t i = 0; i < CLIENT_SLOTS; i++)
		slot_flush(r->client[i], out, all);
}

uint64_t red_overflow(const struct red *r)
{
	return r->overflow;
}

uint64_t red_unjudged(const struct red *r)
{
	return r->unjudged;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/profile.h"
#include "probe/symbol/user/user_frames.h"

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum {
	SLOTS = 8, /* a stack is stored in one of these, starting at the one of its hash */
	BUCKETS = 1024,
	STEPS = 2048, /* limit of one lookup */
	KINDS = 64, /* distinct stacks counted for one request */
	PART = 12, /* address bits that are ignored when lone frames are compared */
};

struct kept_stack {
	uint64_t key, used; /* used: number of its latest sample */
	struct req_stack stack;
};

struct sample {
	uint64_t id, at_ns, key;
	uint32_t tid, before; /* the previous one in the same bucket */
};

/* Samples are numbered from 1; number n is stored at n % PROFILE_SAMPLES until overwritten. */
struct profile {
	uint32_t newest;
	uint32_t bucket[BUCKETS];
	struct kept_stack kept[PROFILE_STACKS];
	struct sample sample[PROFILE_SAMPLES];
};

_Static_assert(sizeof(struct profile) <= 1 << 20, "the budget");

struct profile *profile_new(void)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		die("out of memory");
	return p;
}

void profile_free(struct profile *p)
{
	free(p);
}

/*
 * Key of the call sites. A lone frame, whose caller is unknown, is keyed by its part of the file,
 * of about the length of a function.
 */
static uint64_t key_of(const struct req_stack *s, uint32_t n)
{
	uint64_t h = hash_add(HASH_START, &s->tgid, sizeof(s->tgid)),
		 part = s->frame[0].where >> PART;

	if (n == 1)
		h = hash_add(h, &part, sizeof(part));
	if (s->frame[0].status == USER_FRAME_BY_ID)
		h = hash_add(h, s->frame[0].build_id, sizeof(s->frame[0].build_id));
	return hash_end(hash_add(h, &s->frame[1], (n - 1) * sizeof(s->frame[0])));
}

/* The slot of this key, or the slot that has been unused for longest. */
static struct kept_stack *slot_of(struct profile *p, uint64_t key)
{
	struct kept_stack *oldest = NULL;

	for (size_t i = 0; i < SLOTS; i++) {
		struct kept_stack *k = &p->kept[(key + i) % PROFILE_STACKS];

		if (k->key == key)
			return k;
		if (!oldest || k->used < oldest->used)
			oldest = k;
	}
	return oldest;
}

static const struct req_stack *stack_of(const struct profile *p, uint64_t key)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (p->kept[(key + i) % PROFILE_STACKS].key == key)
			return &p->kept[(key + i) % PROFILE_STACKS].stack;
	return NULL;
}

static uint32_t bucket_of(uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 54);
}

_Static_assert(BUCKETS == 1 << (64 - 54), "bucket");

static const struct sample *sample_at(const struct profile *p, uint32_t number)
{
	bool there = number && p->newest - number < PROFILE_SAMPLES;

	return there ? &p->sample[number % PROFILE_SAMPLES] : NULL;
}

void profile_push(struct profile *p, const struct req_stack *s)
{
	uint32_t max = s->nframes < STACK_FRAMES ? s->nframes : STACK_FRAMES;
	uint32_t n = user_frames_count(s->frame, max), number, *before;
	struct kept_stack *k;
	uint64_t key;

	if (!n || !s->id)
		return;
	key = key_of(s, n);
	k = slot_of(p, key);
	number = ++p->newest ? p->newest : ++p->newest;
	if (k->key != key) {
		*k = (struct kept_stack){ .key = key, .stack = *s };
		k->stack.nframes = n;
		k->stack.flags = n < s->nframes ? STACK_CUT : 0;
	}
	k->used = number;
	before = &p->bucket[bucket_of(s->id)];
	p->sample[number % PROFILE_SAMPLES] =
		(struct sample){ s->id, s->at_ns, key, s->tid, *before };
	*before = number;
}

struct kinds {
	uint32_t n, all;
	uint64_t key[KINDS];
	struct profile_found found[KINDS];
};

static void count_sample(const struct profile *p, struct kinds *c, const struct sample *s)
{
	const struct req_stack *stack = stack_of(p, s->key);
	struct profile_found *f;
	uint32_t i = 0;

	c->all++;
	while (i < c->n && c->key[i] != s->key)
		i++;
	if (!stack || i == KINDS)
		return;
	f = &c->found[i];
	if (i == c->n) {
		c->key[c->n++] = s->key;
		*f = (struct profile_found){ .stack = stack };
	}
	f->samples++;
	f->first_ns = s->at_ns; /* samples are visited newest first */
	f->tid = s->tid;
}

static int by_samples(const void *a, const void *b)
{
	const struct profile_found *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

uint32_t profile_find(const struct profile *p, uint64_t id, uint64_t from_ns, uint64_t to_ns,
		      struct profile_found out[static PROFILE_FOUND])
{
	const struct sample *s = id ? sample_at(p, p->bucket[bucket_of(id)]) : NULL;
	struct kinds c = { 0 };
	uint32_t n;

	for (uint32_t i = 0; s && i < STEPS; i++, s = sample_at(p, s->before))
		if (s->id == id && s->at_ns >= from_ns && s->at_ns <= to_ns)
			count_sample(p, &c, s);
	qsort(c.found, c.n, sizeof(c.found[0]), by_samples);
	n = c.n < PROFILE_FOUND ? c.n : PROFILE_FOUND;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = c.found[i];
		out[i].all = c.all;
	}
	return n;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/evidence.h"

#include "lib/base/log.h"
#include "probe/request/judge/breakdown.h"

enum {
	BUCKETS = 2048, /* of each index */
	STEPS = 1024, /* limit of one lookup */
	CANDIDATES = 32,
	CPU_HOLDERS = 24,
};

/* Records arrive in the order of their end, but from several CPUs. */
#define DISORDER_NS 100000000ull
#define APART_NS 2000000ull /* largest gap between pieces of one wait */

struct kept_wait {
	struct req_block b;
	uint32_t before_id, before_tid; /* the previous one in the same bucket */
};

/* Records are numbered from 1; number n is stored at n % EVIDENCE_BLOCKS until overwritten. */
struct evidence {
	uint32_t newest;
	uint64_t pushed_out;
	uint32_t by_id[BUCKETS], by_tid[BUCKETS]; /* the newest of each; 0: none */
	struct kept_wait kept[EVIDENCE_BLOCKS];
};

_Static_assert(sizeof(struct evidence) <= 4 << 20, "the budget");

struct evidence *evidence_new(void)
{
	struct evidence *e = calloc(1, sizeof(*e));

	if (!e)
		die("out of memory");
	return e;
}

void evidence_free(struct evidence *e)
{
	free(e);
}

uint64_t evidence_pushed_out(const struct evidence *e)
{
	return e->pushed_out;
}

static uint32_t bucket_of(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 53);
}

_Static_assert(BUCKETS == 1 << (64 - 53), "bucket");

static const struct kept_wait *kept_at(const struct evidence *e, uint32_t number)
{
	bool there = number && e->newest - number < EVIDENCE_BLOCKS;

	return there ? &e->kept[number % EVIDENCE_BLOCKS] : NULL;
}

void evidence_push(struct evidence *e, const struct req_block *b)
{
	uint32_t *id = &e->by_id[bucket_of(b->id)], *tid = &e->by_tid[bucket_of(b->tid)];
	uint32_t number = ++e->newest ? e->newest : ++e->newest;
	struct kept_wait *k = &e->kept[number % EVIDENCE_BLOCKS];

	if (k->b.kind && k->b.end_ns + EVIDENCE_KEPT_NS > b->end_ns)
		e->pushed_out++;
	*k = (struct kept_wait){ .b = *b, .before_id = *id, .before_tid = *tid };
	if (b->who_tid == b->tid) /* a thread cannot block itself */
		k->b.flags &= ~(uint32_t)BLOCK_HAS_WHO;
	*id = *tid = number;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t overlap(const struct req_block *b, uint64_t from, uint64_t to)
{
	uint64_t a = b->start_ns > from ? b->start_ns : from, z = least(b->end_ns, to);

	return z > a ? least(z - a, b->off_ns) : 0;
}

struct cpu_holder {
	const struct req_block *longest;
	uint64_t ns;
};

struct candidates {
	uint32_t n, nholders;
	struct cpu_holder holder[CPU_HOLDERS];
	struct evidence_wait wait[CANDIDATES];
};

/* Blocks are visited newest first: b directly precedes w in the same call. */
static bool continues(const struct evidence_wait *w, const struct req_block *b)
{
	const struct req_block *a = w->block;

	return a->tid == b->tid && a->id == b->id && a->wait == b->wait && a->nr == b->nr &&
	       a->arg[0] == b->arg[0] && a->who_tgid == b->who_tgid &&
	       b->end_ns + APART_NS >= w->start_ns;
}

static struct evidence_wait *smallest_wait(struct candidates *c)
{
	struct evidence_wait *least_of = &c->wait[0];

	for (uint32_t i = 1; i < c->n; i++)
		if (c->wait[i].ns < least_of->ns)
			least_of = &c->wait[i];
	return least_of;
}

/* Sums the time by the name of the process that held the CPU: many processes may share a name. */
static void count_holder(struct candidates *c, const struct req_block *b, uint64_t ns)
{
	struct cpu_holder *o = NULL;

	if (b->wait != WAIT_RUNQ || !(b->flags & BLOCK_HAS_WHO))
		return;
	for (uint32_t i = 0; i < c->nholders && !o; i++)
		if (strncmp(c->holder[i].longest->who, b->who, REQ_COMM) == 0)
			o = &c->holder[i];
	if (!o && c->nholders == CPU_HOLDERS)
		return;
	if (!o) {
		o = &c->holder[c->nholders++];
		*o = (struct cpu_holder){ .longest = b };
	}
	o->ns += ns;
	if (b->off_ns > o->longest->off_ns)
		o->longest = b;
}

static void add_wait(struct candidates *c, const struct req_block *b, uint64_t ns, bool own)
{
	struct evidence_wait *w;

	if (!ns)
		return;
	if (own)
		count_holder(c, b, ns);
	for (uint32_t i = 0; i < c->n; i++) {
		w = &c->wait[i];
		if (w->own != own || !continues(w, b))
			continue;
		if (b->off_ns > w->block->off_ns)
			w->block = b;
		w->start_ns = least(w->start_ns, b->start_ns);
		w->off_ns += b->off_ns;
		w->ns += ns;
		return;
	}
	w = c->n < CANDIDATES ? &c->wait[c->n++] : smallest_wait(c);
	if (w->block && w->ns >= ns)
		return;
	*w = (struct evidence_wait){ b, b->start_ns, b->end_ns, b->off_ns, ns, own };
}

static int by_length(const void *a, const void *b)
{
	const struct evidence_wait *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void name_worst_holder(const struct candidates *c, struct evidence_found *out)
{
	uint64_t worst_ns = 0;

	for (uint32_t i = 0; i < c->nholders; i++) {
		if (c->holder[i].ns <= worst_ns)
			continue;
		worst_ns = c->holder[i].ns;
		out->longest[PART_RUNQ] = c->holder[i].longest;
	}
}

static void choose_waits(struct candidates *c, struct evidence_found *out)
{
	qsort(c->wait, c->n, sizeof(c->wait[0]), by_length);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct evidence_wait *w = &c->wait[i];
		enum part p = breakdown_part(w->block->wait);

		if (out->n < ITEM_MAX_EVIDENCE)
			out->wait[out->n++] = *w;
		if (w->own && !out->longest[p])
			out->longest[p] = w->block;
	}
	name_worst_holder(c, out);
}

void evidence_find(const struct evidence *e, const struct req_head *h, uint64_t arrival_ns,
		   struct evidence_found *out)
{
	struct candidates c = { 0 };
	const struct kept_wait *k;
	uint32_t steps = 0;

	*out = (struct evidence_found){ 0 };
	k = h->id ? kept_at(e, e->by_id[bucket_of(h->id)]) : NULL;
	for (; k && steps < STEPS; k = kept_at(e, k->before_id), steps++)
		if (k->b.id == h->id)
			add_wait(&c, &k->b, overlap(&k->b, arrival_ns, h->last_ns), true);
	k = kept_at(e, e->by_tid[bucket_of(h->tid)]);
	for (steps = 0; k && steps < STEPS; k = kept_at(e, k->before_tid), steps++) {
		const struct req_block *b = &k->b;

		if (b->end_ns + DISORDER_NS < arrival_ns)
			break;
		if (b->tid == h->tid && (!b->id || b->id != h->id))
			add_wait(&c, b, overlap(b, arrival_ns, b->id ? h->read_ns : h->last_ns),
				 !b->id);
	}
	choose_waits(&c, out);
}

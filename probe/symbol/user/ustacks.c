// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/ustacks.h"

#include "lib/base/log.h"
#include "probe/symbol/stack_dedup.h"
#include "probe/symbol/user/usym.h"

enum {
	STEP_BYTES = 256 * 1024, /* of files per step: about 1 ms */
	STEP_STACKS = 8, /* sent per step */
	CUT = 1, /* flags of a STACK item */
	USER = 2,
	ADDRESS = 2, /* status of a frame with an address, valid in its process only */
	SHARE = USTACKS_PENDING / 4, /* of one process, while more than half wait */
	COSTS = 64, /* processes whose cost is remembered */
};

#define LOOKUP_MAX_NS 5000000000ull /* of one stack, from its first step */
#define WAIT_MAX_NS 30000000000ull /* then one step is all that a stack gets */
#define COST_HALF_NS 1000000000ull /* in this time a cost is worth half */

struct pending_ustack {
	uint64_t id, since_ns;
	uint32_t tgid, n;
	bool cut;
	struct req_frame frame[STACK_FRAMES];
};

struct ustacks {
	struct usym *usym;
	struct stack_dedup sent;
	bool begun; /* the lookup of the first pending stack */
	uint64_t begun_ns, halved_ns;
	uint32_t first, n; /* of pending, a ring */
	struct pending_ustack pending[USTACKS_PENDING];
	struct {
		uint32_t tgid;
		uint64_t bytes;
	} cost[COSTS]; /* by tgid: of its lookups of late */
};

_Static_assert((int)STACK_FRAMES <= (int)ITEM_MAX_FRAMES, "one item");
_Static_assert((int)USYM_TEXT <= (int)ITEM_MAX_TEXT, "one text");

struct ustacks *ustacks_new(const char *procfs)
{
	struct ustacks *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->usym = usym_new(procfs);
	stack_dedup_open(&s->sent, procfs);
	return s;
}

void ustacks_free(struct ustacks *s)
{
	if (!s)
		return;
	usym_free(s->usym);
	free(s);
}

void ustacks_notice(struct ustacks *s, const struct req_stack *stack)
{
	usym_notice(s->usym, stack->tgid, stack->frame, stack->nframes);
}

static struct pending_ustack *pending_at(struct ustacks *s, uint32_t i)
{
	return &s->pending[(s->first + i) % USTACKS_PENDING];
}

/* Whoever makes many costly stacks must leave room for those of others. */
static bool has_room(struct ustacks *s, uint32_t tgid)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < s->n; i++)
		own += pending_at(s, i)->tgid == tgid;
	return s->n < USTACKS_PENDING / 2 || (s->n < USTACKS_PENDING && own < SHARE);
}

uint64_t ustacks_id(struct ustacks *s, const struct req_stack *stack, uint64_t now_ns)
{
	struct {
		uint32_t tgid, n;
		struct req_frame frame[STACK_FRAMES];
	} what = { .n = stack->nframes };
	struct pending_ustack *p;
	uint64_t id;

	memcpy(what.frame, stack->frame, what.n * sizeof(what.frame[0]));
	for (uint32_t i = 0; i < what.n; i++)
		if (what.frame[i].status == ADDRESS)
			what.tgid = stack->tgid;
	id = stack_dedup_id(&s->sent, &what, sizeof(what));
	if (stack_dedup_is_known(&s->sent, id, now_ns))
		return id;
	if (!has_room(s, stack->tgid))
		return 0;
	p = pending_at(s, s->n++);
	*p = (struct pending_ustack){ .id = id,
				      .since_ns = now_ns,
				      .tgid = stack->tgid,
				      .n = what.n,
				      .cut = stack->flags & STACK_CUT };
	memcpy(p->frame, what.frame, sizeof(p->frame));
	stack_dedup_add(&s->sent, id, now_ns);
	return id;
}

static void send_stack(struct ustacks *s, const struct pending_ustack *p, struct sink *out)
{
	char text[STACK_FRAMES][USYM_TEXT];
	bool whole = !p->cut && usym_is_whole(s->usym);
	struct stack_item item = { .id = p->id,
				   .flags = USER | (whole ? 0 : CUT),
				   .n = usym_frames(s->usym) };

	for (uint32_t i = 0; i < item.n; i++)
		item.frame[i] = usym_frame(s->usym, i, text[i]);
	sink_stack(out, &item);
}

static uint64_t cost_of(const struct ustacks *s, uint32_t tgid)
{
	return s->cost[tgid % COSTS].tgid == tgid ? s->cost[tgid % COSTS].bytes : 0;
}

static void add_cost(struct ustacks *s, uint32_t tgid, size_t bytes, uint64_t now_ns)
{
	if (now_ns - s->halved_ns >= COST_HALF_NS) {
		for (int i = 0; i < COSTS; i++)
			s->cost[i].bytes /= 2;
		s->halved_ns = now_ns;
	}
	s->cost[tgid % COSTS].bytes = cost_of(s, tgid) + bytes;
	s->cost[tgid % COSTS].tgid = tgid;
}

/* Moves the stack to the front whose process has cost least of late; of equal ones the oldest. */
static struct pending_ustack *begin_next(struct ustacks *s, uint64_t now_ns)
{
	struct pending_ustack *first = pending_at(s, 0), *best = first, moved;

	for (uint32_t i = 1; i < s->n; i++) {
		struct pending_ustack *p = pending_at(s, i);
		uint64_t a = cost_of(s, p->tgid), b = cost_of(s, best->tgid);

		if (a < b || (a == b && p->since_ns < best->since_ns))
			best = p;
	}
	moved = *best;
	*best = *first;
	*first = moved;
	usym_begin(s->usym, first->tgid, first->frame, first->n);
	s->begun_ns = now_ns;
	s->begun = true;
	return first;
}

static bool is_late(const struct ustacks *s, const struct pending_ustack *p, uint64_t now_ns)
{
	return now_ns - s->begun_ns >= LOOKUP_MAX_NS || now_ns - p->since_ns >= WAIT_MAX_NS;
}

void ustacks_step(struct ustacks *s, struct sink *out, uint64_t now_ns)
{
	size_t bytes = STEP_BYTES;

	if (!s->n)
		usym_step(s->usym, &bytes); /* the files of a process that was noticed */
	for (int i = 0; i < STEP_STACKS && bytes && s->n; i++) {
		const struct pending_ustack *p =
			s->begun ? pending_at(s, 0) : begin_next(s, now_ns);
		size_t before = bytes;
		bool done = usym_step(s->usym, &bytes);

		add_cost(s, p->tgid, before - bytes, now_ns);
		if (!done && !is_late(s, p, now_ns))
			return;
		send_stack(s, p, out);
		s->first = (s->first + 1) % USTACKS_PENDING;
		s->n--;
		s->begun = false;
	}
}

bool ustacks_wait(const struct ustacks *s)
{
	return s->n > 0;
}

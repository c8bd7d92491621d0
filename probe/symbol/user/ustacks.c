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
};

#define LOOKUP_MAX_NS 5000000000ull

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
	uint32_t first, n; /* of pending, a ring */
	struct pending_ustack pending[USTACKS_PENDING];
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
	if (s->n == USTACKS_PENDING)
		return 0;
	p = &s->pending[(s->first + s->n++) % USTACKS_PENDING];
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

void ustacks_step(struct ustacks *s, struct sink *out, uint64_t now_ns)
{
	size_t bytes = STEP_BYTES;

	for (int i = 0; i < STEP_STACKS && bytes; i++) {
		const struct pending_ustack *p = s->n ? &s->pending[s->first] : NULL;
		bool done;

		if (p && !s->begun)
			usym_begin(s->usym, p->tgid, p->frame, p->n);
		s->begun = p != NULL;
		done = usym_step(s->usym, &bytes);
		if (!p || (!done && now_ns - p->since_ns < LOOKUP_MAX_NS))
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

// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/stacks.h"

#include "lib/base/log.h"
#include "probe/symbol/kernel/ksym.h"
#include "probe/symbol/stack_dedup.h"

enum {
	FRAMES = 40, /* 24 plus those of an interrupt: bpf/files/files.h */
	STEP_BYTES = 256 * 1024, /* of kallsyms per step: about 3 ms */
	CUT = 1, /* flag of a STACK item */
};

#define GATHER_NS 1000000000ull /* a pass waits this long for further stacks */

_Static_assert((int)STACKS_PENDING *FRAMES <= (int)KSYM_MAX, "one pass");
_Static_assert((int)FRAMES <= (int)ITEM_MAX_FRAMES, "one item");

struct pending_stack {
	uint64_t id, frame[FRAMES];
	uint32_t n, flags;
};

struct stacks {
	struct ksyms *ksyms;
	uint64_t first_ns; /* arrival of the oldest pending stack */
	uint32_t npending, npass; /* npass: pending stacks in the current pass */
	bool hidden;
	struct pending_stack pending[STACKS_PENDING];
	struct stack_dedup sent;
};

struct stacks *stacks_new(const char *procfs)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->ksyms = ksyms_new(procfs);
	stack_dedup_open(&s->sent, procfs);
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	ksyms_free(s->ksyms);
	free(s);
}

uint64_t stacks_id(struct stacks *s, const __u64 *frame, uint32_t n, uint32_t flags,
		   uint64_t now_ns)
{
	struct pending_stack *p;
	uint64_t id;

	if (!n)
		return 0;
	n = n < FRAMES ? n : FRAMES;
	id = stack_dedup_id(&s->sent, frame, n * sizeof(*frame));
	if (stack_dedup_is_known(&s->sent, id, now_ns))
		return id;
	if (s->npending == STACKS_PENDING)
		return 0;
	if (!s->npending)
		s->first_ns = now_ns;
	p = &s->pending[s->npending++];
	*p = (struct pending_stack){ .id = id, .n = n, .flags = flags };
	memcpy(p->frame, frame, n * sizeof(*frame));
	stack_dedup_add(&s->sent, id, now_ns);
	return id;
}

static void begin_pass(struct stacks *s)
{
	uint64_t addr[STACKS_PENDING * FRAMES];
	size_t n = 0;

	for (uint32_t i = 0; i < s->npending; i++)
		for (uint32_t j = 0; j < s->pending[i].n; j++)
			addr[n++] = s->pending[i].frame[j];
	s->npass = s->npending;
	ksyms_begin(s->ksyms, addr, n);
}

/* The function by which an interrupt enters the kernel: x86, arm64. A fault of the task itself
 * (asm_exc_page_fault) is none. */
static bool is_entry(const char *name)
{
	if (strncmp(name, "asm_", 4) == 0)
		return strncmp(name, "asm_exc_", 8) != 0;
	return strncmp(name, "el1h_64_irq+", 12) == 0;
}

/* The number of frames of the interrupts on top, including their entries. One may have interrupted
 * another: the frames of the task begin below the last entry. */
static uint32_t interrupt_frames(const char *const *name, uint32_t n)
{
	for (uint32_t i = n; i > 0; i--)
		if (is_entry(name[i - 1]))
			return i;
	return 0;
}

static void send_stack(const struct stacks *s, const struct pending_stack *p, struct sink *out)
{
	char text[FRAMES][KSYM_TEXT];
	struct stack_item item = { .id = p->id, .flags = p->flags & STACKS_CUT ? CUT : 0 };
	const char *name[FRAMES];
	uint32_t skip;

	for (uint32_t i = 0; i < p->n; i++)
		name[i] = ksyms_name(s->ksyms, p->frame[i], text[i]);
	skip = p->flags & STACKS_IN_IRQ ? interrupt_frames(name, p->n) : 0;
	item.n = p->n - skip;
	memcpy(item.frame, name + skip, item.n * sizeof(name[0]));
	sink_stack(out, &item);
}

void stacks_step(struct stacks *s, struct sink *out, uint64_t now_ns)
{
	if (!s->npending || (!s->npass && now_ns - s->first_ns < GATHER_NS))
		return;
	if (!s->npass)
		begin_pass(s);
	if (!ksyms_step(s->ksyms, STEP_BYTES))
		return;
	for (uint32_t i = 0; i < s->npass; i++)
		send_stack(s, &s->pending[i], out);
	s->hidden = ksyms_hidden(s->ksyms);
	s->npending -= s->npass;
	memmove(s->pending, s->pending + s->npass, s->npending * sizeof(s->pending[0]));
	s->npass = 0;
	s->first_ns = now_ns;
	ksyms_begin(s->ksyms, NULL, 0); /* frees the names of the pass */
}

bool stacks_wait(const struct stacks *s)
{
	return s->npending > 0;
}

bool stacks_hidden(const struct stacks *s)
{
	return s->hidden;
}

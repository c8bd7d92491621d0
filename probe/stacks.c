// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include "../lib/log.h"
#include "ksym.h"
#include "told.h"

enum {
	FRAMES = 24,
	STEP_BYTES = 256 * 1024, /* of kallsyms, at a time: about 3 ms */
	CUT = 1, /* of the flags of a STACK */
};

#define GATHER_NS 1000000000ull /* so long, others may join a pass */

_Static_assert((int)STACKS_PENDING *FRAMES <= (int)KSYM_MAX, "one pass");
_Static_assert((int)FRAMES <= (int)ITEM_MAX_FRAMES, "one item");

struct pending {
	uint64_t id, frame[FRAMES];
	uint32_t n;
	bool cut;
};

struct stacks {
	struct ksyms *ksyms;
	uint64_t first_ns; /* when the oldest that waits came */
	uint32_t npending, npass; /* npass: of pending, those that are being looked up */
	bool hidden;
	struct pending pending[STACKS_PENDING];
	struct told told;
};

struct stacks *stacks_new(const char *procfs)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->ksyms = ksyms_new(procfs);
	told_open(&s->told, procfs);
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	ksyms_free(s->ksyms);
	free(s);
}

uint64_t stacks_id(struct stacks *s, const __u64 *frame, uint32_t n, bool cut, uint64_t now_ns)
{
	struct pending *p;
	uint64_t id;

	if (!n)
		return 0;
	n = n < FRAMES ? n : FRAMES;
	id = told_id(&s->told, frame, n * sizeof(*frame));
	if (told_is(&s->told, id, now_ns))
		return id;
	if (s->npending == STACKS_PENDING)
		return 0;
	if (!s->npending)
		s->first_ns = now_ns;
	p = &s->pending[s->npending++];
	*p = (struct pending){ .id = id, .n = n, .cut = cut };
	memcpy(p->frame, frame, n * sizeof(*frame));
	told_add(&s->told, id, now_ns);
	return id;
}

static void begin(struct stacks *s)
{
	uint64_t addr[STACKS_PENDING * FRAMES];
	size_t n = 0;

	for (uint32_t i = 0; i < s->npending; i++)
		for (uint32_t j = 0; j < s->pending[i].n; j++)
			addr[n++] = s->pending[i].frame[j];
	s->npass = s->npending;
	ksyms_begin(s->ksyms, addr, n);
}

static void tell(const struct stacks *s, const struct pending *p, struct sink *out)
{
	char text[FRAMES][KSYM_TEXT];
	struct stack_item item = { .id = p->id, .flags = p->cut ? CUT : 0, .n = p->n };

	for (uint32_t i = 0; i < p->n; i++)
		item.frame[i] = ksyms_name(s->ksyms, p->frame[i], text[i]);
	sink_stack(out, &item);
}

void stacks_step(struct stacks *s, struct sink *out, uint64_t now_ns)
{
	if (!s->npending || (!s->npass && now_ns - s->first_ns < GATHER_NS))
		return;
	if (!s->npass)
		begin(s);
	if (!ksyms_step(s->ksyms, STEP_BYTES))
		return;
	for (uint32_t i = 0; i < s->npass; i++)
		tell(s, &s->pending[i], out);
	s->hidden = ksyms_hidden(s->ksyms);
	s->npending -= s->npass;
	memmove(s->pending, s->pending + s->npass, s->npending * sizeof(s->pending[0]));
	s->npass = 0;
	s->first_ns = now_ns;
	ksyms_begin(s->ksyms, NULL, 0); /* gives the names back */
}

bool stacks_hidden(const struct stacks *s)
{
	return s->hidden;
}

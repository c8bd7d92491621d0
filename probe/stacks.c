// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "../lib/hash.h"
#include "../lib/log.h"
#include "ksym.h"

enum {
	FRAMES = 24,
	STEP_BYTES = 256 * 1024, /* of kallsyms, at a time: about 3 ms */
	PROBES = 8,
	BOOT_ID = 36,
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

struct told {
	uint64_t id, ns;
};

struct stacks {
	struct ksyms *ksyms;
	uint64_t salt, first_ns; /* when the oldest that waits came */
	uint32_t npending, npass; /* npass: of pending, those that are being looked up */
	bool hidden;
	struct pending pending[STACKS_PENDING];
	struct told told[STACKS_TOLD];
};

static uint64_t salt_of_boot(const char *procfs)
{
	char path[PATH_MAX], id[BOOT_ID] = { 0 };
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", procfs);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, id, sizeof(id));
	return hash_add(HASH_START, id, n > 0 ? (size_t)n : 0);
}

struct stacks *stacks_new(const char *procfs)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->ksyms = ksyms_new(procfs);
	s->salt = salt_of_boot(procfs);
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	ksyms_free(s->ksyms);
	free(s);
}

/* Its place, or that of the one that has been told the longest ago. */
static struct told *place_of(struct stacks *s, uint64_t id)
{
	struct told *oldest = NULL;

	for (size_t i = 0; i < PROBES; i++) {
		struct told *t = &s->told[(id + i) % STACKS_TOLD];

		if (t->id == id)
			return t;
		if (!oldest || t->ns < oldest->ns)
			oldest = t;
	}
	return oldest;
}

uint64_t stacks_id(struct stacks *s, const __u64 *frame, uint32_t n, bool cut, uint64_t now_ns)
{
	struct pending *p;
	struct told *t;
	uint64_t id;

	if (!n)
		return 0;
	n = n < FRAMES ? n : FRAMES;
	id = hash_end(hash_add(s->salt, frame, n * sizeof(*frame)));
	t = place_of(s, id);
	if (t->id == id && now_ns - t->ns < STACKS_AGAIN_NS)
		return id;
	if (s->npending == STACKS_PENDING)
		return 0;
	if (!s->npending)
		s->first_ns = now_ns;
	p = &s->pending[s->npending++];
	*p = (struct pending){ .id = id, .n = n, .cut = cut };
	memcpy(p->frame, frame, n * sizeof(*frame));
	*t = (struct told){ id, now_ns };
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

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_pending.h"

#include "lib/base/log.h"

struct files_pending {
	struct files_op op[FILES_PENDING];
	uint32_t n; /* in use */
	uint64_t full;
};

struct files_pending *files_pending_new(void)
{
	struct files_pending *p = calloc(1, sizeof(*p));

	if (!p)
		die("out of memory");
	return p;
}

void files_pending_free(struct files_pending *p)
{
	free(p);
}

uint64_t files_pending_full(const struct files_pending *p)
{
	return p->full;
}

static struct files_op *find_op(struct files_pending *p, uint32_t tid)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->op[i].name.head.tid == tid)
			return &p->op[i];
	return NULL;
}

/* Its end may never come, if the ring had no room for that record. */
static struct files_op *replace_oldest(struct files_pending *p)
{
	struct files_op *op = &p->op[0];

	for (uint32_t i = 1; i < p->n; i++)
		if (p->op[i].name.head.id < op->name.head.id)
			op = &p->op[i];
	p->full++;
	return op;
}

/* A thread is in one call at a time: the previous one has ended. */
void files_pending_name(struct files_pending *p, const struct file_name *n)
{
	struct files_op *op = find_op(p, n->head.tid);

	if (!op)
		op = p->n < FILES_PENDING ? &p->op[p->n++] : replace_oldest(p);
	op->name = *n;
	op->block.head.record = 0;
	op->running.head.record = 0;
}

void files_pending_stack(struct files_pending *p, const struct file_stack *s)
{
	struct files_op *op = find_op(p, s->head.tid);

	if (!op || op->name.head.id != s->head.id)
		return;
	if (s->head.flags & FILE_ON_CPU)
		op->running = *s;
	else
		op->block = *s;
}

void files_pending_end(struct files_pending *p, const struct file_end *e, struct files_op *out)
{
	struct files_op *op = find_op(p, e->head.tid);

	if (op && op->name.head.id == e->head.id) {
		*out = *op;
	} else {
		out->name.head.record = 0;
		out->block.head.record = 0;
		out->running.head.record = 0;
	}
	out->end = *e;
	if (op)
		*op = p->op[--p->n];
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_event.h"

#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"
#include "probe/source/files/files_calls.h"
#include "probe/kernel/path_text.h"

enum { WARNING_US = 100000, CRITICAL_US = 10000000 };

/* A file system without a disk is named by its type. */
static void put_dev(const struct file_name *n, char *out, size_t size)
{
	const char *name = n->dev >> 20 ? n->disk : n->fs;
	size_t max = n->dev >> 20 ? sizeof(n->disk) : sizeof(n->fs);

	text_clean_into(out, size, name, strnlen(name, max));
}

/* A call without a byte count has the size of its file. */
static void put_bytes(const struct files_op *op, struct event_item *e)
{
	uint64_t bytes = op->end.bytes;

	if (files_call_syncs(op->end.call) && op->name.head.record)
		bytes = op->name.size;
	if (bytes == FILE_NOWHERE)
		event_text(e, "bytes", "");
	else
		event_number(e, "bytes", (double)bytes);
}

static void put_params(const struct files_op *op, const struct files_text *t, struct event_item *e)
{
	const struct file_end *end = &op->end;

	event_text(e, "comm", t->comm);
	event_text(e, "call", files_call_name(end->call));
	event_text(e, "file", t->file);
	event_text(e, "dev", t->dev);
	put_bytes(op, e);
	event_ms(e, "ms", e->us);
	event_ms(e, "blocked_ms", end->blocked_ns / 1000);
	if (end->offset != FILE_NOWHERE && !(end->head.flags & FILE_APPENDED))
		event_number(e, "offset", (double)end->offset);
}

static void put_part(const struct files_op *op, const struct files_text *t, enum part part,
		     uint64_t start_ns, uint64_t us, struct event_item *e)
{
	if (us == 0)
		return;
	e->evidence[e->nevidence++] = (struct evidence_item){ .start_ns = start_ns,
							      .us = us,
							      .part = (uint8_t)part,
							      .pid = e->pid,
							      .tid = e->tid,
							      .comm = t->comm,
							      .call = files_call_name(op->end.call),
							      .what = t->file,
							      .who = "" };
}

/* The three parts of its time; unknown time at its begin and end counts as CPU. */
static void put_evidence(const struct files_op *op, const struct files_text *t, int64_t wall,
			 struct event_item *e)
{
	uint64_t blocked = op->end.blocked_ns / 1000, runq = op->end.runq_ns / 1000;
	uint64_t at = op->block.head.record ? op->block.start_ns + (uint64_t)wall : e->start_ns;

	put_part(op, t, PART_IO, at, blocked, e);
	put_part(op, t, PART_CPU, e->start_ns, e->us > blocked + runq ? e->us - blocked - runq : 0,
		 e);
	put_part(op, t, PART_RUNQ, e->start_ns, runq, e);
}

static uint8_t severity_of(uint64_t us)
{
	return us >= CRITICAL_US ? EVENT_CRITICAL : us >= WARNING_US ? EVENT_WARNING : EVENT_INFO;
}

void files_event(const struct files_op *op, int64_t wall_minus_mono_ns, struct files_text *text,
		 struct event_item *out)
{
	const struct file_end *end = &op->end;
	uint64_t least = end->last_ns - end->first_ns, most = end->end_ns - end->out_ns;
	uint64_t start = end->out_ns + (end->first_ns - end->out_ns) / 2;

	memset(text, 0, sizeof(*text));
	text_clean_into(text->comm, sizeof(text->comm), end->comm,
			strnlen(end->comm, sizeof(end->comm)));
	if (op->name.head.record) {
		path_text(&op->name.path, op->name.head.flags & FILE_DELETED, text->file);
		put_dev(&op->name, text->dev, sizeof(text->dev));
	}
	*out = (struct event_item){ .start_ns = start + (uint64_t)wall_minus_mono_ns,
				    .us = (least + most) / 2000,
				    .error_us = (most - least + 1999) / 2000,
				    .kind = "io.slow",
				    .pid = end->head.tgid,
				    .tid = end->head.tid,
				    .comm = text->comm,
				    .reason = R_IO_SLOW };
	out->severity = severity_of(out->us);
	put_params(op, text, out);
	put_evidence(op, text, wall_minus_mono_ns, out);
}

const struct file_stack *files_event_stack(const struct files_op *op, const struct event_item *e,
					   uint32_t i)
{
	const struct file_stack *s = e->evidence[i].part == PART_IO    ? &op->block
				     : e->evidence[i].part == PART_CPU ? &op->running
								       : NULL;

	return s && s->head.record && s->n ? s : NULL;
}

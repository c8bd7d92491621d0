// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/hung_tasks.h"

#include <stdio.h>

#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"
#include "probe/symbol/kernel/kernel_names.h"
#include "probe/kernel/path_text.h"

#define CRITICAL_NS (120 * 1000000000ull)

static struct hung_task *find_task(struct hung_tasks *t, const struct hung_task_record *r)
{
	for (int i = 0; i < HUNG_TASKS_MAX; i++)
		if (t->task[i].tid == r->tid && t->task[i].task_ns == r->start_ns &&
		    t->task[i].first_ns == r->first_ns)
			return &t->task[i];
	return NULL;
}

static void put_texts(struct hung_task *k, const struct hung_task_record *r)
{
	bool on_disk = r->dev >> 20;
	const char *dev = on_disk ? r->disk : r->fs;

	text_clean_into(k->comm, sizeof(k->comm), r->comm, strnlen(r->comm, sizeof(r->comm)));
	if (!(r->flags & STUCK_FILE))
		return;
	path_text(&r->path, r->flags & STUCK_DELETED, k->file);
	text_clean_into(k->dev, sizeof(k->dev), dev,
			strnlen(dev, on_disk ? sizeof(r->disk) : sizeof(r->fs)));
}

struct hung_task *hung_tasks_see(struct hung_tasks *t, const struct hung_task_record *r,
				 const struct hung_task_pass *p)
{
	struct hung_task *k = find_task(t, r);
	char tid[16];

	if (k) {
		k->seen = true;
		k->seen_ns = r->now_ns;
		return NULL;
	}
	for (k = t->task; k < t->task + HUNG_TASKS_MAX && k->tid; k++)
		;
	if (k == t->task + HUNG_TASKS_MAX) {
		t->others++;
		return NULL;
	}
	*k = (struct hung_task){ .tid = r->tid,
				 .tgid = r->tgid,
				 .call = r->call,
				 .flags = r->flags,
				 .task_ns = r->start_ns,
				 .first_ns = r->first_ns,
				 .seen_ns = r->now_ns,
				 .seen = true };
	snprintf(tid, sizeof(tid), "%u", r->tid);
	ongoing_event_begin(&k->ongoing, "task.stuck", tid, r->first_ns,
			    r->first_ns + (uint64_t)p->wall_minus_mono_ns);
	put_texts(k, r);
	return k;
}

void hung_tasks_confirm(struct hung_tasks *t, uint32_t tid)
{
	for (int i = 0; i < HUNG_TASKS_MAX; i++) {
		if (t->task[i].tid != tid || t->task[i].hung)
			continue;
		t->task[i].hung = true;
		t->task[i].ongoing.next_ns = 0;
	}
}

static void put_params(const struct hung_tasks *t, const struct hung_task *k,
		       const char call[static NAME_CALL], struct event_item *e)
{
	event_text(e, "comm", k->comm);
	event_number(e, "pid", k->tgid);
	event_ms(e, "ms", e->us);
	event_text(e, "call", k->flags & STUCK_KTHREAD ? "kernel" : call);
	event_text(e, "file", k->file);
	event_text(e, "dev", k->dev);
	event_number(e, "others", t->others);
	event_text(e, "hung_task", k->hung ? "yes" : "no");
}

static void send_event(const struct hung_tasks *t, struct hung_task *k, bool going_on,
		       const struct hung_task_pass *p, struct sink *out)
{
	uint64_t until = going_on ? p->now_ns : k->seen_ns + p->period_ns / 2;
	bool critical = k->hung || until - k->first_ns >= CRITICAL_NS;
	struct event_item e = { .error_us = p->period_ns / 1000,
				.kind = "task.stuck",
				.severity = critical ? EVENT_CRITICAL : EVENT_WARNING,
				.pid = k->tgid,
				.tid = k->tid,
				.comm = k->comm,
				.reason = R_TASK_STUCK };
	char call[NAME_CALL];

	ongoing_event_report(&k->ongoing, until, going_on, &e);
	kernel_names_call(k->call, call);
	put_params(t, k, call, &e);
	e.nevidence = 1;
	e.evidence[0] = (struct evidence_item){
		.start_ns = e.start_ns,
		.us = e.us,
		.part = k->flags & STUCK_IOWAIT ? PART_IO : PART_LOCK,
		.pid = k->tgid,
		.tid = k->tid,
		.comm = k->comm,
		.call = call,
		.what = k->file,
		.who = "",
		.stack = k->stack,
	};
	sink_event(out, &e);
}

void hung_tasks_end(struct hung_tasks *t, const struct hung_task_pass *p, struct sink *out)
{
	for (struct hung_task *k = t->task; k < t->task + HUNG_TASKS_MAX; k++) {
		if (!k->tid)
			continue;
		if (!k->seen || ongoing_event_due(&k->ongoing, p->now_ns))
			send_event(t, k, k->seen, p, out);
		if (!k->seen)
			k->tid = 0;
		k->seen = false;
	}
	t->withheld += t->others > t->before ? t->others - t->before : 0;
	t->before = t->others;
	t->others = 0;
}

uint32_t hung_tasks_count(const struct hung_tasks *t)
{
	uint32_t n = 0;

	for (int i = 0; i < HUNG_TASKS_MAX; i++)
		n += t->task[i].tid != 0;
	return n;
}

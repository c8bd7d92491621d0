// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/oom_event.h"

#include <stdio.h>

#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"

struct texts {
	char comm[OOM_NAME], by[OOM_NAME], top[ITEM_MAX_TEXT];
};

/* "python3[12] 512 MiB, ..." */
static void put_top(const struct oom_report *r, char out[static ITEM_MAX_TEXT])
{
	size_t n = 0;

	out[0] = 0;
	for (uint32_t i = 0; i < r->ntop && n < ITEM_MAX_TEXT; i++)
		n += (size_t)snprintf(out + n, ITEM_MAX_TEXT - n, "%s%s[%u] %.1f MiB",
				      i ? ", " : "", r->top[i].comm, r->top[i].pid,
				      (double)r->top[i].rss_bytes / (1 << 20));
}

static void clean_name(char out[static OOM_NAME], const char *s, size_t size)
{
	text_clean_into(out, OOM_NAME, s, strnlen(s, size));
}

static void put_bytes(struct event_item *e, const char *key, uint64_t bytes)
{
	if (bytes)
		event_number(e, key, (double)bytes);
	else
		event_text(e, key, "");
}

static uint64_t rss_of(const struct oom_seen *o)
{
	if (o->report && o->report->rss_bytes)
		return o->report->rss_bytes;
	return o->victim ? o->victim->rss_pages * o->page_bytes : 0;
}

static void put_evidence(const struct oom_seen *o, const struct texts *t, struct event_item *e)
{
	if (!o->victim)
		return;
	e->nevidence = 1;
	e->evidence[0] =
		(struct evidence_item){ .start_ns = o->wall_ns,
					.part = PART_RECLAIM,
					.pid = o->victim->by_pid,
					.tid = o->victim->by_pid,
					.comm = t->by,
					.call = "",
					.what = o->report && o->report->of[0] ? o->report->of
									      : o->cgroup,
					.who = "",
					.stack = o->stack };
}

void oom_event_send(const struct oom_seen *o, struct sink *out)
{
	static const struct oom_report none;
	const struct oom_report *r = o->report ? o->report : &none;
	const struct oom_victim *v = o->victim;
	struct event_item e = { .start_ns = o->wall_ns,
				.kind = "mem.oom",
				.severity = EVENT_CRITICAL,
				.pid = v ? v->pid : r->pid,
				.reason = R_MEM_OOM };
	struct texts t;

	clean_name(t.comm,
		   r->comm[0] ? r->comm
		   : v	      ? v->comm
			      : "",
		   r->comm[0] ? OOM_NAME : OOM_COMM);
	clean_name(t.by, r->by[0] ? r->by : v ? v->by_comm : "", r->by[0] ? OOM_NAME : OOM_COMM);
	put_top(r, t.top);
	e.tid = e.pid;
	e.comm = t.comm;
	event_text(&e, "cgroup", r->cgroup[0] ? r->cgroup : o->cgroup);
	event_text(&e, "comm", t.comm);
	event_number(&e, "pid", e.pid);
	put_bytes(&e, "rss_bytes", rss_of(o));
	put_bytes(&e, "limit_bytes", r->limit_bytes);
	event_text(&e, "top", t.top);
	event_text(&e, "by", t.by);
	put_evidence(o, &t, &e);
	sink_event(out, &e);
}

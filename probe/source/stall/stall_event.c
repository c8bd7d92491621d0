// SPDX-License-Identifier: Apache-2.0
#include "probe/source/stall/stall_event.h"

#include <math.h>
#include <stdio.h>

#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"

#define CRITICAL_NS (300 * 1000000000ull)

static const double MB = 1e6;

static const struct {
	const char *kind;
	uint16_t reason;
	enum part part;
} kinds[] = {
	[STALL_CPU] = { "cpu.stall", R_CPU_STALL, PART_CPU },
	[STALL_IO] = { "io.stall", R_IO_STALL, PART_IO },
	[STALL_MEMORY] = { "mem.stall", R_MEM_STALL, PART_RECLAIM },
};

static double round_to(double v, double to)
{
	return round(v / to) * to;
}

static double use_rate(const struct stall *s, double did)
{
	return s->seconds > 0 ? did / s->seconds : 0;
}

static void put_who(const struct culprit *o, char *comm, size_t csize, char *who, size_t wsize)
{
	text_clean_into(comm, csize, o->comm, strnlen(o->comm, CULPRIT_COMM));
	if (o->pid)
		snprintf(who, wsize, "%s[%u]", comm, o->pid);
	else
		snprintf(who, wsize, "%s", comm);
}

static void put_texts(const struct stall *s, struct stall_text *t)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < s->nworst; i++) {
		put_who(&s->worst[i], t->comm[i], sizeof(t->comm[i]), t->who[i], sizeof(t->who[i]));
		if (s->what == STALL_CPU)
			snprintf(t->what[i], sizeof(t->what[i]), "%.2f CPUs",
				 use_rate(s, s->worst[i].did));
		else
			snprintf(t->what[i], sizeof(t->what[i]), "%.1f MB/s",
				 use_rate(s, s->worst[i].did) / MB);
	}
	if (s->nvictims)
		put_who(&s->victim, t->victim, sizeof(t->victim), t->waiter, sizeof(t->waiter));
	for (size_t i = 0; i < s->ndisks; i++) {
		const struct disk_busy *d = &s->disk[i];

		text_clean_into(t->dev[i], sizeof(t->dev[i]), d->name, strlen(d->name));
		snprintf(t->busy[i], sizeof(t->busy[i]),
			 "%s: %.0f %% busy, %.1f requests at a time", t->dev[i], d->util * 100,
			 d->queue);
	}
	text_clean_into(t->cgroup, sizeof(t->cgroup), s->cgroup, strlen(s->cgroup));
}

static void put_size(struct event_item *e, const char *key, double bytes)
{
	if (isnan(bytes))
		event_text(e, key, "");
	else
		event_number(e, key, round_to(bytes / MB, 0.1));
}

static void put_params(const struct stall *s, const struct stall_text *t, struct event_item *e)
{
	const struct episode *p = s->episode;
	double did = s->nworst ? use_rate(s, s->worst[0].did) : 0;

	event_number(e, "pct", round(p->of_s > 0 ? 100 * p->waited_s / p->of_s : 0));
	event_number(e, "times", p->times);
	event_text(e, "who", t->who[0]);
	event_text(e, "cgroup", t->cgroup);
	switch (s->what) {
	case STALL_CPU:
		event_number(e, "cpus", round_to(did, 0.01));
		event_text(e, "waiter", t->waiter);
		break;
	case STALL_IO:
		event_number(e, "mb_s", round_to(did / MB, 0.1));
		event_text(e, "dev", t->dev[0]);
		event_number(e, "util", s->ndisks ? round(s->disk[0].util * 100) : 0);
		if (s->ndisks && !isnan(s->disk[0].await_ms))
			event_number(e, "await_ms", round_to(s->disk[0].await_ms, 0.01));
		else
			event_text(e, "await_ms", "");
		break;
	case STALL_MEMORY:
		event_number(e, "mb_s", round_to(did / MB, 0.1));
		put_size(e, "used_mb", s->used_bytes);
		put_size(e, "limit_mb", s->limit_bytes);
		break;
	}
}

static struct evidence_item *add_evidence(struct event_item *e, enum part part, double seconds)
{
	struct evidence_item *v = &e->evidence[e->nevidence++];

	*v = (struct evidence_item){ .start_ns = e->start_ns,
				     .us = (uint64_t)(seconds * 1e6),
				     .part = (uint8_t)part,
				     .comm = "",
				     .call = "",
				     .what = "",
				     .who = "" };
	return v;
}

/* Culprits with their use, one victim, and disks: at most 3 + 1 + 3. */
static void put_evidence(const struct stall *s, const struct stall_text *t, struct event_item *e)
{
	struct evidence_item *v;

	for (size_t i = 0; i < s->nworst; i++) {
		v = add_evidence(e, kinds[s->what].part,
				 s->what == STALL_CPU ? s->worst[i].did : s->seconds);
		v->pid = v->tid = s->worst[i].pid;
		v->comm = t->comm[i];
		v->what = t->what[i];
		v->who = t->who[i];
	}
	if (s->nvictims) {
		v = add_evidence(e, s->what == STALL_CPU ? PART_RUNQ : kinds[s->what].part,
				 s->victim.waited);
		v->pid = v->tid = s->victim.pid;
		v->comm = t->victim;
		v->who = t->who[0];
	}
	for (size_t i = 0; i < s->ndisks; i++) {
		v = add_evidence(e, PART_IO, s->disk[i].util * s->seconds);
		v->what = t->busy[i];
	}
}

void stall_event(const struct stall *s, struct stall_text *text, struct event_item *out)
{
	const struct episode *p = s->episode;

	put_texts(s, text);
	*out = (struct event_item){
		.start_ns = p->start_ns + (uint64_t)s->wall_minus_mono_ns,
		.us = (p->last_high_ns - p->start_ns) / 1000,
		.kind = kinds[s->what].kind,
		.severity = p->last_high_ns - p->open_ns >= CRITICAL_NS ? EVENT_CRITICAL
									: EVENT_WARNING,
		.comm = text->comm[0],
		.reason = kinds[s->what].reason,
		.update = p->reports,
		.going_on = s->going_on,
	};
	if (s->nworst)
		out->pid = out->tid = s->worst[0].pid;
	out->id = event_id(out->kind, out->start_ns);
	put_params(s, text, out);
	put_evidence(s, text, out);
}

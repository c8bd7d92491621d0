// SPDX-License-Identifier: Apache-2.0
#include "probe/source/tcp/tcp_event.h"

#include <math.h>
#include <stdio.h>

#include "lib/wire/reason.h"
#include "lib/base/text.h"
#include "probe/event/event_param.h"

#define CRITICAL_NS (300 * 1000000000ull)

static const struct {
	const char *kind;
	uint16_t reason;
} kinds[TROUBLES] = {
	[TROUBLE_RETRANSMIT] = { "net.retransmits", R_NET_RETRANSMITS },
	[TROUBLE_CONNECT] = { "net.connect", R_NET_CONNECT },
};

static const char *const faults[TCP_FAULTS] = {
	[TCP_AGAIN] = "sent again",	[TCP_REFUSED] = "refused",
	[TCP_TIMED_OUT] = "no answer",	[TCP_UNREACHABLE] = "unreachable",
	[TCP_GIVEN_UP] = "given up",	[TCP_NOT_SENT] = "no free local port",
	[TCP_FAILED] = "another error",
};

static void put_texts(const struct tcp_trouble *s, struct tcp_text *t)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < s->nworst; i++) {
		const struct tcp_worst *w = &s->worst[i];

		text_clean_into(t->app[i], sizeof(t->app[i]), w->app, strlen(w->app));
		text_clean_into(t->dev[i], sizeof(t->dev[i]), w->dev, strnlen(w->dev, TCP_DEV));
		addr_text(&w->peer, t->peer[i]);
		snprintf(t->what[i], sizeof(t->what[i]), "%s%s%s: %llu %s", t->peer[i],
			 t->dev[i][0] ? " on " : "", t->dev[i], (unsigned long long)w->n,
			 faults[w->fault]);
	}
}

static void put_params(const struct tcp_trouble *s, const struct tcp_text *t, struct event_item *e)
{
	const struct episode *p = s->episode;
	double seconds = (double)(p->last_high_ns - p->start_ns) / 1e9;

	event_number(e, "pct", p->of_s > 0 ? round(1000 * p->waited_s / p->of_s) / 10 : 0);
	event_number(e, "per_s", seconds > 0 ? round((double)s->n / seconds) : (double)s->n);
	event_number(e, "times", p->times);
	event_text(e, "app", t->app[0]);
	event_text(e, "peer", t->peer[0]);
	event_text(e, "dev", t->dev[0]);
	if (s->kind == TROUBLE_CONNECT)
		event_text(e, "error", s->nworst ? faults[s->worst[0].fault] : "");
}

static void put_evidence(const struct tcp_trouble *s, const struct tcp_text *t,
			 struct event_item *e)
{
	for (size_t i = 0; i < s->nworst; i++)
		e->evidence[e->nevidence++] = (struct evidence_item){
			.start_ns = e->start_ns,
			.us = e->us,
			.part = PART_NET,
			.comm = t->app[i],
			.call = "",
			.what = t->what[i],
			.who = "",
		};
}

void tcp_event(const struct tcp_trouble *s, struct tcp_text *text, struct event_item *out)
{
	const struct episode *p = s->episode;

	put_texts(s, text);
	*out = (struct event_item){
		.start_ns = p->start_ns + (uint64_t)s->wall_minus_mono_ns,
		.us = (p->last_high_ns - p->start_ns) / 1000,
		.kind = kinds[s->kind].kind,
		.severity = p->last_high_ns - p->open_ns >= CRITICAL_NS ? EVENT_CRITICAL
									: EVENT_WARNING,
		.comm = text->app[0],
		.reason = kinds[s->kind].reason,
		.update = p->reports,
		.going_on = s->going_on,
	};
	out->id = event_id(out->kind, out->start_ns);
	put_params(s, text, out);
	put_evidence(s, text, out);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/tcp/tcp_watch.h"

#include <math.h>

/* Below these values nothing is reported, even if the usual share is 0: share, and rate per second.
 */
static const struct {
	double share, per_s;
} floors[TROUBLES] = {
	[TROUBLE_RETRANSMIT] = { 0.05, 10 },
	[TROUBLE_CONNECT] = { 0.5, 5 },
};

void tcp_watch_init(struct tcp_watch *w, enum tcp_trouble_kind kind)
{
	*w = (struct tcp_watch){ .kind = kind };
	episode_init(&w->episode, floors[kind].share);
}

bool tcp_watch_suspicious(const struct tcp_watch *w, uint64_t n, double seconds)
{
	double least = floors[w->kind].per_s * (w->episode.open ? 0.5 : 1);

	return n && (double)n >= least * seconds;
}

static bool same_peer(const struct tcp_worst *a, const struct tcp_worst *b)
{
	return a->fault == b->fault && addr_equal(&a->peer, &b->peer) &&
	       strcmp(a->app, b->app) == 0 && strcmp(a->dev, b->dev) == 0;
}

void tcp_watch_add(struct tcp_watch *w, const struct tcp_worst *more)
{
	size_t least = 0;

	for (size_t i = 0; i < w->nworst; i++) {
		if (same_peer(&w->worst[i], more)) {
			w->worst[i].n += more->n;
			return;
		}
		if (w->worst[i].n < w->worst[least].n)
			least = i;
	}
	if (w->nworst < TCP_WATCHED)
		w->worst[w->nworst++] = *more;
	else if (w->worst[least].n < more->n)
		w->worst[least] = *more;
}

static int by_number(const void *a, const void *b)
{
	const struct tcp_worst *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

static void send_trouble(struct tcp_watch *w, bool going_on, struct sink *out)
{
	struct tcp_trouble now = { .kind = w->kind,
				   .episode = &w->episode,
				   .going_on = going_on,
				   .wall_minus_mono_ns = w->wall_minus_mono_ns,
				   .n = w->n };
	struct tcp_text text;
	struct event_item e;

	qsort(w->worst, w->nworst, sizeof(w->worst[0]), by_number);
	now.nworst = w->nworst < TCP_WORST ? w->nworst : TCP_WORST;
	memcpy(now.worst, w->worst, now.nworst * sizeof(now.worst[0]));
	tcp_event(&now, &text, &e);
	sink_event(out, &e);
}

void tcp_watch_step(struct tcp_watch *w, uint64_t n, uint64_t of, bool suspicious, uint64_t now_ns,
		    uint64_t wall_ns, struct sink *out)
{
	struct episode *e = &w->episode;
	double share = !suspicious ? 0 : of ? fmin((double)n / (double)of, 1) : NAN;

	if (!isnan(share))
		w->n += n;
	switch (episode_step(e, share, now_ns)) {
	case EPISODE_NOTHING:
		break;
	case EPISODE_OPENS:
		w->wall_minus_mono_ns = (int64_t)(wall_ns - now_ns);
		send_trouble(w, true, out);
		break;
	case EPISODE_REOPENS:
	case EPISODE_GOES_ON:
		send_trouble(w, true, out);
		break;
	case EPISODE_ENDS:
		send_trouble(w, false, out);
		break;
	}
	if (!e->open && !e->high_ns) {
		w->n = 0;
		w->nworst = 0;
	}
}

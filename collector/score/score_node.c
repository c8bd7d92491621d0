// SPDX-License-Identifier: Apache-2.0
#include "collector/score/score_node.h"

#include <math.h>

#include "lib/base/text.h"

#define SEC 1000000000ull

static const uint64_t SAMPLE_NS = 10 * SEC, REQUEST_NS = 60 * SEC;

/* Numbers begin at 1, so that a zeroed span belongs to no time. */
static uint64_t span_number(uint64_t now_ns, uint64_t span_ns)
{
	return now_ns / span_ns + 1;
}

static bool is_recent(uint64_t number, uint64_t now_number)
{
	return number && number + SCORE_SPANS > now_number;
}

static struct score_span *span_at(struct score_node *n, uint64_t number)
{
	struct score_span *s = &n->span[number % SCORE_SPANS];

	if (s->number != number)
		*s = (struct score_span){ .number = number };
	return s;
}

static bool disk_is_quiet(const struct score_node *n, uint32_t i, uint64_t number)
{
	for (uint32_t k = 0; k < SCORE_SPANS; k++)
		if (is_recent(n->disk[i].span[k].number, number))
			return false;
	return true;
}

/* The slot of this disk, or one without recent samples; -1: all are in use. */
static int find_disk_slot(struct score_node *n, const char *name, uint64_t number)
{
	int place = -1;

	for (int i = 0; i < SCORE_DISKS; i++) {
		if (strcmp(n->disk[i].name, name) == 0)
			return i;
		if (place < 0 && disk_is_quiet(n, (uint32_t)i, number))
			place = i;
	}
	if (place < 0)
		return place;
	memset(&n->disk[place], 0, sizeof(n->disk[place]));
	memcpy(n->disk[place].name, name, strlen(name) + 1);
	return place;
}

static void disk_sample(struct score_node *n, const struct score_wanted *w,
			const struct sample_item *s, uint64_t number)
{
	char name[SCORE_NAME];
	struct score_busy *b;
	int at;

	text_clean_into(name, sizeof(name), s->entity, strlen(s->entity));
	at = find_disk_slot(n, name, number);
	if (at < 0)
		return;
	b = &n->disk[at].span[number % SCORE_SPANS];
	if (b->number != number)
		*b = (struct score_busy){ .number = number };
	b->busy_s += s->v[w->place[SCORED_DISK_BUSY]];
	b->weighted_s += w->place[SCORED_DISK_WEIGHTED] < 0 ? (double)NAN
							    : s->v[w->place[SCORED_DISK_WEIGHTED]];
}

void score_node_sample(struct score_node *n, const struct score_wanted *w,
		       const struct sample_item *s, uint64_t now_ns)
{
	uint64_t number = span_number(now_ns, SAMPLE_NS);
	struct score_span *span;

	if (w->place[SCORED_DISK_BUSY] >= 0) {
		disk_sample(n, w, s, number);
		return;
	}
	span = span_at(n, number);
	for (int i = 0; i < SCORED_END; i++) {
		if (w->place[i] < 0 || !isfinite(s->v[w->place[i]]))
			continue;
		span->sum[i] += s->v[w->place[i]];
		span->n[i]++;
	}
}

static bool app_is_quiet(const struct score_node *n, int i, uint64_t number)
{
	for (int k = 0; k < SCORE_SPANS; k++)
		if (is_recent(n->app[i].span[k].number, number))
			return false;
	return true;
}

static void count_requests(struct score_node *n, int app, const struct red_item *q, uint64_t number)
{
	struct node_score_requests *r = &n->app[app].span[number % SCORE_SPANS].of;

	if (n->app[app].span[number % SCORE_SPANS].number != number)
		*r = (struct node_score_requests){ 0 };
	n->app[app].span[number % SCORE_SPANS].number = number;
	r->n += (double)q->count;
	r->errors += q->status_class == 0 || q->status_class == 5 ? (double)q->count : 0;
	r->judged += (double)q->judged;
	r->excess_us += q->judged ? (double)q->excess_us : 0;
}

void score_node_red(struct score_node *n, const struct red_item *q, uint64_t now_ns)
{
	uint64_t number = span_number(now_ns, REQUEST_NS);
	char name[SCORE_NAME];
	int place = 0;

	if (q->role != RED_SERVER)
		return;
	count_requests(n, 0, q, number);
	text_clean_into(name, sizeof(name), q->app, strlen(q->app));
	for (int i = 1; i <= SCORE_APPS; i++) {
		if (strcmp(n->app[i].name, name) == 0) {
			count_requests(n, i, q, number);
			return;
		}
		if (!place && app_is_quiet(n, i, number))
			place = i;
	}
	if (!place)
		return; /* counted only with the node */
	memset(&n->app[place], 0, sizeof(n->app[place]));
	memcpy(n->app[place].name, name, sizeof(name));
	count_requests(n, place, q, number);
}

void score_node_event(struct score_node *n, const struct event_item *e, uint64_t now_ns)
{
	uint64_t number = span_number(now_ns, REQUEST_NS);
	char kind[SCORE_NAME];
	int place = -1;

	if (e->severity < EVENT_WARNING || strcmp(e->kind, "probe.budget") == 0)
		return;
	text_clean_into(kind, sizeof(kind), e->kind, strlen(e->kind));
	for (int i = 0; i < SCORE_EVENTS; i++) {
		bool old = !is_recent(n->event[i].number, number);

		if (strcmp(n->event[i].kind, kind) == 0 && !old) {
			place = i;
			break;
		}
		if (place < 0 && old)
			place = i;
	}
	if (place < 0)
		return;
	if (!is_recent(n->event[place].number, number)) {
		memset(&n->event[place], 0, sizeof(n->event[place]));
		memcpy(n->event[place].kind, kind, sizeof(kind));
	}
	n->event[place].number = number;
	n->event[place].critical |= e->severity >= EVENT_CRITICAL;
	n->event[place].n += e->update <= 1; /* updates of an ongoing event are not counted */
}

static void sample_facts(const struct score_node *n, uint64_t number, struct node_score_facts *f)
{
	uint32_t times[SCORED_END] = { 0 };

	memset(f->v, 0, sizeof(f->v));
	for (int k = 0; k < SCORE_SPANS; k++) {
		for (int i = 0; i < SCORED_END && is_recent(n->span[k].number, number); i++) {
			f->v[i] += n->span[k].sum[i];
			times[i] += n->span[k].n[i];
		}
	}
	for (int i = 0; i < SCORED_END; i++) {
		bool gauge = i == SCORED_CPUS || i == SCORED_RUNNING || i == SCORED_MEMORY ||
			     i == SCORED_AVAILABLE;

		f->v[i] = !times[i] ? (double)NAN : gauge ? f->v[i] / times[i] : f->v[i];
	}
	for (int i = 0; i < SCORE_DISKS; i++) {
		struct node_score_disk *d = &f->disk[f->ndisks];

		if (!*n->disk[i].name || disk_is_quiet(n, (uint32_t)i, number))
			continue;
		*d = (struct node_score_disk){ 0 };
		memcpy(d->name, n->disk[i].name, SCORE_NAME);
		for (int k = 0; k < SCORE_SPANS; k++) {
			const struct score_busy *b = &n->disk[i].span[k];

			d->busy_s += is_recent(b->number, number) ? b->busy_s : 0;
			d->weighted_s += is_recent(b->number, number) ? b->weighted_s : 0;
		}
		f->ndisks++;
	}
}

static struct node_score_requests requests_of(const struct score_node *n, int app, uint64_t number)
{
	struct node_score_requests sum = { 0 };

	for (int k = 0; k < SCORE_SPANS; k++) {
		const struct node_score_requests *r = &n->app[app].span[k].of;

		if (!is_recent(n->app[app].span[k].number, number))
			continue;
		sum.n += r->n;
		sum.errors += r->errors;
		sum.judged += r->judged;
		sum.excess_us += r->excess_us;
	}
	return sum;
}

void score_node_facts(const struct score_node *n, uint64_t now_ns, struct node_score_facts *f)
{
	uint64_t number = span_number(now_ns, REQUEST_NS);

	f->ndisks = f->napps = f->nevents = 0;
	sample_facts(n, span_number(now_ns, SAMPLE_NS), f);
	f->requests = requests_of(n, 0, number);
	for (int i = 1; i <= SCORE_APPS; i++) {
		struct node_score_app *a = &f->app[f->napps];

		a->of = requests_of(n, i, number);
		memcpy(a->name, n->app[i].name, SCORE_NAME);
		f->napps += a->of.n > 0;
	}
	for (int i = 0; i < SCORE_EVENTS; i++) {
		struct node_score_event *e = &f->event[f->nevents];

		if (!is_recent(n->event[i].number, number))
			continue;
		memcpy(e->kind, n->event[i].kind, SCORE_NAME);
		e->critical = n->event[i].critical;
		e->n = n->event[i].n;
		f->nevents++;
	}
}

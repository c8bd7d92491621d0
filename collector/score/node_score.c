// SPDX-License-Identifier: Apache-2.0
#include "collector/score/node_score.h"

#include <math.h>

#include "lib/base/base.h"

static const double PERCENT = 100, FULL = 100;
static const double MEMORY_TIMES = 5; /* waiting for memory is worse than for a CPU or a disk */
static const double LOW_PERCENT = 10; /* of memory that is available */
static const double QUEUE_HALF = 16; /* requests in a disk's queue that are half as bad as can be */
static const double EXCESS_HALF_MS = 100, FAILED_HALF = 0.05;
static const double CRITICAL = 80, WARNING = 40;

static double bounded(double score)
{
	return score < 0 ? 0 : score > FULL ? FULL : score;
}

/* NaN: this could not be looked at. */
static void found(struct node_score *s, struct node_score_cause c)
{
	if (isnan(c.score)) {
		if (s->nunknown < SCORE_CAUSES)
			s->unknown[s->nunknown++] = c.code;
		return;
	}
	c.score = bounded(c.score);
	if (!s->known || c.score > s->worst.score)
		s->worst = c;
	s->known = true;
}

/* How long it was: what all processors did, by how many there are. */
static double seconds(const double *v)
{
	double all = 0;

	for (int i = SCORED_USER; i <= SCORED_IOWAIT; i++)
		all += v[i];
	return v[SCORED_CPUS] > 0 && all > 0 ? all / v[SCORED_CPUS] : NAN;
}

static void pressure(struct node_score *s, const char *code, double waiting_s, double of_s,
		     double times)
{
	double percent = PERCENT * waiting_s / of_s;

	found(s, (struct node_score_cause){ code, "", percent, times * percent });
}

static void disk_queue(struct node_score *s, const struct node_score_disk *d, double of_s)
{
	double queue = d->weighted_s / of_s, busy = d->busy_s / of_s;
	double over = queue > 1 ? (queue - 1) / (queue - 1 + QUEUE_HALF) : 0;

	if (!isnan(queue) && !isnan(busy))
		found(s, (struct node_score_cause){ "disk.queue", d->name, queue,
						    FULL * (busy < 1 ? busy : 1) * over });
}

static void saturation(const struct node_score_facts *f, struct node_score *s)
{
	const double *v = f->v;
	double of_s = seconds(v), available = PERCENT * v[SCORED_AVAILABLE] / v[SCORED_MEMORY];

	pressure(s, "cpu.pressure", v[SCORED_PSI_CPU], of_s, 1);
	pressure(s, "memory.pressure", v[SCORED_PSI_MEMORY], of_s, MEMORY_TIMES);
	pressure(s, "io.pressure", v[SCORED_PSI_IO], of_s, 1);
	if (isnan(v[SCORED_PSI_CPU])) {
		double times = v[SCORED_RUNNING] / v[SCORED_CPUS];

		found(s, (struct node_score_cause){ "cpu.queue", "", times, FULL * (times - 1) });
	}
	found(s, (struct node_score_cause){ "memory.low", "", available,
					    FULL * (1 - available / LOW_PERCENT) });
	for (uint32_t i = 0; i < f->ndisks; i++)
		disk_queue(s, &f->disk[i], of_s);
}

static void load(const struct node_score_facts *f, struct node_score *s)
{
	const double *v = f->v;
	double of_s = seconds(v);
	double idle = PERCENT * (v[SCORED_IDLE] + v[SCORED_IOWAIT]) / (of_s * v[SCORED_CPUS]);
	double used = PERCENT * (1 - v[SCORED_AVAILABLE] / v[SCORED_MEMORY]);

	found(s, (struct node_score_cause){ "cpu.busy", "", PERCENT - idle, PERCENT - idle });
	found(s, (struct node_score_cause){ "memory.used", "", used, used });
	for (uint32_t i = 0; i < f->ndisks; i++) {
		double busy = PERCENT * f->disk[i].busy_s / of_s;

		if (!isnan(busy))
			found(s, (struct node_score_cause){ "disk.busy", f->disk[i].name, busy,
							    busy });
	}
}

static void slow(struct node_score *s, const struct node_score_requests *r, const char *app)
{
	double ms = r->excess_us / 1000 / r->judged;

	if (r->judged > 0)
		found(s, (struct node_score_cause){ "excess", app, ms,
						    FULL * ms / (ms + EXCESS_HALF_MS) });
}

static void failed(struct node_score *s, const struct node_score_requests *r, const char *app)
{
	double ratio = r->errors / r->n;

	if (r->n > 0)
		found(s, (struct node_score_cause){ "failed", app, PERCENT * ratio,
						    FULL * ratio / (ratio + FAILED_HALF) });
}

static void requests(const struct node_score_facts *f, struct node_score *latency,
		     struct node_score *error)
{
	slow(latency, &f->requests, "");
	failed(error, &f->requests, "");
	for (uint32_t i = 0; i < f->napps; i++) {
		const struct node_score_app *a = &f->app[i];

		if (a->of.judged >= SCORE_JUDGED)
			slow(latency, &a->of, a->name);
		if (a->of.n >= SCORE_JUDGED)
			failed(error, &a->of, a->name);
	}
}

static void events(const struct node_score_facts *f, struct node_score *s)
{
	for (uint32_t i = 0; i < f->nevents; i++) {
		const struct node_score_event *e = &f->event[i];

		found(s, (struct node_score_cause){ "event", e->kind, (double)e->n,
						    e->critical ? CRITICAL : WARNING });
	}
}

void node_score_judge(const struct node_score_facts *f, struct node_score s[static SCORE_CLASSES])
{
	memset(s, 0, SCORE_CLASSES * sizeof(*s));
	saturation(f, &s[SCORE_SATURATION]);
	load(f, &s[SCORE_LOAD]);
	requests(f, &s[SCORE_LATENCY], &s[SCORE_ERROR]);
	events(f, &s[SCORE_ERROR]);
	for (int i = 0; i < SCORE_CLASSES; i++) {
		bool of_requests = i == SCORE_LATENCY || i == SCORE_ERROR;

		if (s[i].known)
			continue;
		s[i].worst.code = !of_requests	      ? "notMeasured"
				  : f->requests.n > 0 ? "noNormal"
						      : "noRequests";
	}
}

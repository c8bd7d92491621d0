// SPDX-License-Identifier: Apache-2.0
#include "collector/score/node_score.h"

#include <math.h>

#include "lib/base/base.h"

static const double PERCENT = 100, FULL = 100;
static const double MEMORY_TIMES = 5; /* waiting for memory is worse than for a CPU or a disk */
static const double LOW_PERCENT = 10; /* of memory available */
static const double QUEUE_HALF = 16; /* queued disk requests that give half the full score */
static const double EXCESS_HALF_MS = 100, FAILED_HALF = 0.05;
static const double CRITICAL = 80, WARNING = 40;

static double clamp_score(double score)
{
	return score < 0 ? 0 : score > FULL ? FULL : score;
}

/* A NaN score means that the cause could not be measured. */
static void add_cause(struct node_score *s, struct node_score_cause c)
{
	if (isnan(c.score)) {
		if (s->nunknown < SCORE_CAUSES)
			s->unknown[s->nunknown++] = c.code;
		return;
	}
	c.score = clamp_score(c.score);
	if (!s->known || c.score > s->worst.score)
		s->worst = c;
	s->known = true;
}

/* The length of the measured time: the CPU time of all processors divided by their number. */
static double measured_seconds(const double *v)
{
	double all = 0;

	for (int i = SCORED_USER; i <= SCORED_IOWAIT; i++)
		all += v[i];
	return v[SCORED_CPUS] > 0 && all > 0 ? all / v[SCORED_CPUS] : NAN;
}

static void add_pressure(struct node_score *s, const char *code, double waiting_s, double of_s,
			 double times)
{
	double percent = PERCENT * waiting_s / of_s;

	add_cause(s, (struct node_score_cause){ code, "", percent, times * percent });
}

static void add_disk_queue(struct node_score *s, const struct node_score_disk *d, double of_s)
{
	double queue = d->weighted_s / of_s, busy = d->busy_s / of_s;
	double over = queue > 1 ? (queue - 1) / (queue - 1 + QUEUE_HALF) : 0;

	if (!isnan(queue) && !isnan(busy))
		add_cause(s, (struct node_score_cause){ "disk.queue", d->name, queue,
							FULL * (busy < 1 ? busy : 1) * over });
}

static void rate_saturation(const struct node_score_facts *f, struct node_score *s)
{
	const double *v = f->v;
	double of_s = measured_seconds(v),
	       available = PERCENT * v[SCORED_AVAILABLE] / v[SCORED_MEMORY];

	add_pressure(s, "cpu.pressure", v[SCORED_PSI_CPU], of_s, 1);
	add_pressure(s, "memory.pressure", v[SCORED_PSI_MEMORY], of_s, MEMORY_TIMES);
	add_pressure(s, "io.pressure", v[SCORED_PSI_IO], of_s, 1);
	if (isnan(v[SCORED_PSI_CPU])) {
		double times = v[SCORED_RUNNING] / v[SCORED_CPUS];

		add_cause(s,
			  (struct node_score_cause){ "cpu.queue", "", times, FULL * (times - 1) });
	}
	add_cause(s, (struct node_score_cause){ "memory.low", "", available,
						FULL * (1 - available / LOW_PERCENT) });
	for (uint32_t i = 0; i < f->ndisks; i++)
		add_disk_queue(s, &f->disk[i], of_s);
}

static void rate_load(const struct node_score_facts *f, struct node_score *s)
{
	const double *v = f->v;
	double of_s = measured_seconds(v);
	double idle = PERCENT * (v[SCORED_IDLE] + v[SCORED_IOWAIT]) / (of_s * v[SCORED_CPUS]);
	double used = PERCENT * (1 - v[SCORED_AVAILABLE] / v[SCORED_MEMORY]);

	add_cause(s, (struct node_score_cause){ "cpu.busy", "", PERCENT - idle, PERCENT - idle });
	add_cause(s, (struct node_score_cause){ "memory.used", "", used, used });
	for (uint32_t i = 0; i < f->ndisks; i++) {
		double busy = PERCENT * f->disk[i].busy_s / of_s;

		if (!isnan(busy))
			add_cause(s, (struct node_score_cause){ "disk.busy", f->disk[i].name, busy,
								busy });
	}
}

static void add_excess(struct node_score *s, const struct node_score_requests *r, const char *app)
{
	double ms = r->excess_us / 1000 / r->judged;

	if (r->judged > 0)
		add_cause(s, (struct node_score_cause){ "excess", app, ms,
							FULL * ms / (ms + EXCESS_HALF_MS) });
}

static void add_failures(struct node_score *s, const struct node_score_requests *r, const char *app)
{
	double ratio = r->errors / r->n;

	if (r->n > 0)
		add_cause(s, (struct node_score_cause){ "failed", app, PERCENT * ratio,
							FULL * ratio / (ratio + FAILED_HALF) });
}

static void rate_requests(const struct node_score_facts *f, struct node_score *latency,
			  struct node_score *error)
{
	add_excess(latency, &f->requests, "");
	add_failures(error, &f->requests, "");
	for (uint32_t i = 0; i < f->napps; i++) {
		const struct node_score_app *a = &f->app[i];

		if (a->of.judged >= SCORE_JUDGED)
			add_excess(latency, &a->of, a->name);
		if (a->of.n >= SCORE_JUDGED)
			add_failures(error, &a->of, a->name);
	}
}

static void rate_events(const struct node_score_facts *f, struct node_score *s)
{
	for (uint32_t i = 0; i < f->nevents; i++) {
		const struct node_score_event *e = &f->event[i];

		add_cause(s, (struct node_score_cause){ "event", e->kind, (double)e->n,
							e->critical ? CRITICAL : WARNING });
	}
}

void node_score_judge(const struct node_score_facts *f, struct node_score s[static SCORE_CLASSES])
{
	memset(s, 0, SCORE_CLASSES * sizeof(*s));
	rate_saturation(f, &s[SCORE_SATURATION]);
	rate_load(f, &s[SCORE_LOAD]);
	rate_requests(f, &s[SCORE_LATENCY], &s[SCORE_ERROR]);
	rate_events(f, &s[SCORE_ERROR]);
	for (int i = 0; i < SCORE_CLASSES; i++) {
		bool of_requests = i == SCORE_LATENCY || i == SCORE_ERROR;

		if (s[i].known)
			continue;
		s[i].worst.code = !of_requests	      ? "notMeasured"
				  : f->requests.n > 0 ? "noNormal"
						      : "noRequests";
	}
}

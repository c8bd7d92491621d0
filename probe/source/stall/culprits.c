// SPDX-License-Identifier: Apache-2.0
#include "probe/source/stall/culprits.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/source/stall/culprit_read.h"

#define S 1000000000ull
#define SOON_NS (S * 9 / 10) /* of CPU: at every second tick; of the others every two seconds */

enum { COST = 100, GROUPS = 64 }; /* looking takes at most a hundredth of a CPU */

struct row {
	struct offender_counts last; /* pid 0: of processes that ended, by name */
	double did, waited;
	uint32_t mark; /* the look that saw it */
};

struct offenders {
	char *procfs, *below;
	enum offence what;
	struct buf text;
	struct row *rows; /* in the order of their pids */
	uint32_t n, room;
	uint32_t looks;
	uint64_t first_ns, last_ns, next_ns;
	uint64_t paid_ns; /* then the looks so far have taken that share of the time */
	uint64_t now_ns; /* of the look that is going on */
	double waiting, busy;
};

struct offenders *offenders_new(const char *procfs, enum offence what, const char *below)
{
	struct offenders *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct offenders){ .what = what, .waiting = NAN, .busy = NAN };
	o->procfs = strdup(procfs);
	o->below = strdup(below);
	if (!o->procfs || !o->below) {
		offenders_free(o);
		return NULL;
	}
	return o;
}

void offenders_free(struct offenders *o)
{
	if (!o)
		return;
	free(o->procfs);
	free(o->below);
	free(o->rows);
	buf_free(&o->text);
	free(o);
}

static int by_pid(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->last.pid > y->last.pid) - (x->last.pid < y->last.pid);
}

static struct row *add(struct offenders *o)
{
	uint32_t room = o->room ? o->room * 2 : 128;

	if (o->n == OFFENDERS_MAX)
		return NULL;
	if (o->n == o->room) {
		struct row *more = realloc(o->rows, room * sizeof(*more));

		if (!more)
			return NULL;
		o->rows = more;
		o->room = room;
	}
	o->rows[o->n] = (struct row){ 0 };
	return &o->rows[o->n++];
}

static double grown(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/* Between two looks at one process. */
static double did(enum offence what, const struct offender_counts *now,
		  const struct offender_counts *before)
{
	double fresh;

	switch (what) {
	case OFFENCE_CPU:
		return grown(now->cpu_ns, before->cpu_ns) / 1e9;
	case OFFENCE_IO:
		return grown(now->read_bytes, before->read_bytes) +
		       grown(now->written_bytes, before->written_bytes);
	case OFFENCE_MEMORY:
		fresh = grown(now->faulted_bytes, before->faulted_bytes);
		return fmax(grown(now->rss_bytes, before->rss_bytes), fresh) +
		       grown(now->read_bytes, before->read_bytes);
	}
	return 0;
}

/* The last look. */
static double since_s(const struct offenders *o)
{
	return o->looks ? (double)(o->now_ns - o->last_ns) / 1e9 : 0;
}

struct sums {
	double waited_s, busy_s;
};

static void count(struct offenders *o, struct row *r, const struct offender_counts *now,
		  const struct offender_counts *before, struct sums *sum)
{
	double d = did(o->what, now, before), w = grown(now->delay_ns, before->delay_ns) / 1e9;

	r->did += d;
	r->last = *now;
	r->mark = o->looks;
	if (!now->inside)
		return;
	r->waited += o->what == OFFENCE_CPU ? w : now->waits ? since_s(o) : 0;
	sum->busy_s += d;
	if (!now->may_wait)
		sum->waited_s += w;
}

/* old: as many rows as there were before this look. */
static void see(struct offenders *o, uint32_t old, uint32_t pid, struct sums *sum)
{
	const struct row key = { .last = { .pid = pid } };
	const struct offender_counts nothing = { 0 };
	struct row *r = old ? bsearch(&key, o->rows, old, sizeof(key), by_pid) : NULL;
	struct offender_counts now = { .pid = pid };
	struct offender_counts before = r ? r->last : nothing;

	if (offender_read(&o->text, o->procfs, o->below, o->what, r ? &r->last : NULL, &now) < 0)
		return;
	if (r && r->last.start != now.start) { /* another one has its number */
		r->last = now;
		before = nothing;
	}
	if (!r)
		r = add(o);
	if (r)
		count(o, r, &now, o->looks ? &before : &now, sum);
}

/* Those that ended become one row for each name; of pid 0, so they are first. */
static void bury(struct offenders *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		struct row r = o->rows[i];

		if (r.last.pid && r.mark != o->looks) {
			r.last.pid = 0;
			for (uint32_t j = 0; j < n; j++)
				if (!o->rows[j].last.pid &&
				    strcmp(o->rows[j].last.comm, r.last.comm) == 0) {
					o->rows[j].did += r.did;
					o->rows[j].waited += r.waited;
					r.did = r.waited = 0;
				}
			if (r.did <= 0 && r.waited <= 0)
				continue;
		}
		o->rows[n++] = r;
	}
	o->n = n;
}

bool offenders_due(const struct offenders *o, uint64_t now_ns)
{
	return now_ns >= o->next_ns;
}

bool offenders_paid(const struct offenders *o, uint64_t now_ns)
{
	return now_ns >= o->paid_ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int offenders_look(struct offenders *o, uint64_t now_ns)
{
	uint64_t began = clock_cpu_ns();
	uint32_t old = o->n;
	struct sums sum = { 0 };
	struct dirent *e;
	DIR *d = opendir(o->procfs);

	if (!d)
		return -errno;
	o->now_ns = now_ns;
	while ((e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			see(o, old, (uint32_t)strtoul(e->d_name, NULL, 10), &sum);
	closedir(d);
	bury(o);
	if (o->n)
		qsort(o->rows, o->n, sizeof(*o->rows), by_pid);
	if (o->looks && now_ns > o->last_ns) {
		o->waiting = sum.waited_s / ((double)(now_ns - o->last_ns) / 1e9);
		o->busy = sum.busy_s / ((double)(now_ns - o->last_ns) / 1e9);
	}
	if (!o->looks++)
		o->first_ns = now_ns;
	o->last_ns = now_ns;
	o->paid_ns = later(o->paid_ns, now_ns) + (clock_cpu_ns() - began) * COST;
	o->next_ns = now_ns + (o->what == OFFENCE_CPU ? SOON_NS : 2 * SOON_NS);
	if (o->looks > 1) /* one says nothing: the second is not put off, but paid for, too */
		o->next_ns = later(o->next_ns, o->paid_ns);
	return 0;
}

void offenders_forget(struct offenders *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		o->rows[i].did = o->rows[i].waited = 0;
		if (o->rows[i].last.pid)
			o->rows[n++] = o->rows[i];
	}
	o->n = n;
	o->first_ns = o->last_ns;
}

double offenders_waiting(const struct offenders *o)
{
	return o->waiting;
}

double offenders_busy(const struct offenders *o)
{
	return o->busy;
}

double offenders_seconds(const struct offenders *o)
{
	return (double)(o->last_ns - o->first_ns) / 1e9;
}

/* What r counts for, of either list. */
static double weight(const struct offenders *o, const struct row *r, bool victims)
{
	if (o->what != OFFENCE_CPU && !r->last.inside)
		return 0; /* a scope's own disks and memory; who has its CPUs may be anybody */
	if (victims)
		return r->last.may_wait ? r->waited / 1000 : r->waited;
	return o->what == OFFENCE_CPU && r->last.may_wait ? r->did / 1000 : r->did;
}

struct group {
	struct offender o;
	double weight, most;
};

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

static struct group *group_of(struct group *g, size_t *n, const struct row *r)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(g[i].o.comm, r->last.comm) == 0)
			return &g[i];
	if (*n == GROUPS)
		return NULL;
	g[*n] = (struct group){ 0 };
	memcpy(g[*n].o.comm, r->last.comm, OFFENDER_COMM);
	return &g[(*n)++];
}

/* The lightest makes room for a new one: what is left out of GROUPS names is little. */
static size_t worst(struct offenders *o, struct offender *out, size_t room, bool victims)
{
	struct group g[GROUPS] = { 0 }, *at;
	size_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		const struct row *r = &o->rows[i];
		double w = weight(o, r, victims);

		if (w <= 0)
			continue;
		at = group_of(g, &n, r);
		if (!at) {
			qsort(g, n, sizeof(*g), by_weight);
			if (g[n - 1].weight >= w)
				continue;
			n--;
			at = group_of(g, &n, r);
		}
		at->weight += w;
		at->o.did += r->did;
		at->o.waited += r->waited;
		if (r->last.pid && (w > at->most || !at->o.pid)) {
			at->most = w;
			at->o.pid = r->last.pid;
		}
	}
	qsort(g, n, sizeof(*g), by_weight);
	for (size_t i = 0; i < n && i < room; i++)
		out[i] = g[i].o;
	return n < room ? n : room;
}

size_t offenders_worst(struct offenders *o, struct offender *out, size_t room)
{
	return worst(o, out, room, false);
}

size_t offenders_victims(struct offenders *o, struct offender *out, size_t room)
{
	return worst(o, out, room, true);
}

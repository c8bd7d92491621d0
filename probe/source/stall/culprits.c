// SPDX-License-Identifier: Apache-2.0
#include "probe/source/stall/culprits.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/source/stall/culprit_read.h"

#define S 1000000000ull
#define SOON_NS (S * 9 / 10) /* CPU: every second tick; others: every two seconds */
#define STEP_NS                                                                                    \
	10000000ull /* of CPU time in one call: any user can start thousands of processes          \
		     */

/* COST: scans take at most 1/COST of a CPU. AT_ONCE: processes between two looks at the clock. */
enum { COST = 100, GROUPS = 64, AT_ONCE = 8 };

struct row {
	struct culprit_counts last; /* pid 0: sum of ended processes of this name */
	double did, waited;
	uint32_t mark; /* the last scan that saw it */
};

struct scan_sums {
	double waited_s, busy_s;
};

struct culprits {
	char *procfs, *below;
	enum stall_resource what;
	struct buf text;
	struct row *rows; /* sorted by pid */
	uint32_t n, room;
	uint32_t scans;
	uint64_t first_ns, last_ns, next_ns;
	uint64_t paid_ns; /* from then on the scans are within 1/COST */
	uint64_t now_ns; /* of the current scan */
	DIR *dir; /* NULL: no scan has begun that is to be continued */
	uint32_t old; /* number of rows before this scan */
	struct scan_sums sum; /* of this scan */
	uint64_t cost_ns; /* of this scan */
	double waiting, busy;
};

struct culprits *culprits_new(const char *procfs, enum stall_resource what, const char *below)
{
	struct culprits *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct culprits){ .what = what, .waiting = NAN, .busy = NAN };
	o->procfs = strdup(procfs);
	o->below = strdup(below);
	if (!o->procfs || !o->below) {
		culprits_free(o);
		return NULL;
	}
	return o;
}

void culprits_free(struct culprits *o)
{
	if (!o)
		return;
	if (o->dir)
		closedir(o->dir);
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

static struct row *add_row(struct culprits *o)
{
	uint32_t room = o->room ? o->room * 2 : 128;

	if (o->n == CULPRITS_MAX)
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

static double growth(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/* Use between two scans of one process. */
static double usage_growth(enum stall_resource what, const struct culprit_counts *now,
			   const struct culprit_counts *before)
{
	double fresh;

	switch (what) {
	case STALL_CPU:
		return growth(now->cpu_ns, before->cpu_ns) / 1e9;
	case STALL_IO:
		return growth(now->read_bytes, before->read_bytes) +
		       growth(now->written_bytes, before->written_bytes);
	case STALL_MEMORY:
		fresh = growth(now->faulted_bytes, before->faulted_bytes);
		return fmax(growth(now->rss_bytes, before->rss_bytes), fresh) +
		       growth(now->read_bytes, before->read_bytes);
	}
	return 0;
}

/* Time since the last scan. */
static double since_s(const struct culprits *o)
{
	return o->scans ? (double)(o->now_ns - o->last_ns) / 1e9 : 0;
}

static void count_usage(struct culprits *o, struct row *r, const struct culprit_counts *now,
			const struct culprit_counts *before)
{
	double d = usage_growth(o->what, now, before),
	       w = growth(now->delay_ns, before->delay_ns) / 1e9;

	r->did += d;
	r->last = *now;
	r->mark = o->scans;
	if (!now->inside)
		return;
	r->waited += o->what == STALL_CPU ? w : now->waits ? since_s(o) : 0;
	o->sum.busy_s += d;
	if (!now->may_wait)
		o->sum.waited_s += w;
}

static void scan_process(struct culprits *o, uint32_t pid)
{
	const struct row key = { .last = { .pid = pid } };
	const struct culprit_counts nothing = { 0 };
	struct row *r = o->old ? bsearch(&key, o->rows, o->old, sizeof(key), by_pid) : NULL;
	struct culprit_counts now = { .pid = pid };
	struct culprit_counts before = r ? r->last : nothing;

	if (culprit_read(&o->text, o->procfs, o->below, o->what, r ? &r->last : NULL, &now) < 0)
		return;
	if (r && r->last.start != now.start) { /* the pid was reused */
		r->last = now;
		before = nothing;
	}
	if (!r)
		r = add_row(o);
	if (r)
		count_usage(o, r, &now, o->scans ? &before : &now);
}

/* Merges ended processes into one row per name; these have pid 0 and sort first. */
static void merge_ended(struct culprits *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		struct row r = o->rows[i];

		if (r.last.pid && r.mark != o->scans) {
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

bool culprits_going_on(const struct culprits *o)
{
	return o->dir != NULL;
}

bool culprits_due(const struct culprits *o, uint64_t now_ns)
{
	return o->dir || now_ns >= o->next_ns;
}

bool culprits_paid(const struct culprits *o, uint64_t now_ns)
{
	return now_ns >= o->paid_ns;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void end_scan(struct culprits *o)
{
	closedir(o->dir);
	o->dir = NULL;
	merge_ended(o);
	if (o->n)
		qsort(o->rows, o->n, sizeof(*o->rows), by_pid);
	if (o->scans && o->now_ns > o->last_ns) {
		o->waiting = o->sum.waited_s / since_s(o);
		o->busy = o->sum.busy_s / since_s(o);
	}
	if (!o->scans++)
		o->first_ns = o->now_ns;
	o->last_ns = o->now_ns;
	o->paid_ns = later_of(o->paid_ns, o->now_ns) + o->cost_ns * COST;
	o->next_ns = o->now_ns + (o->what == STALL_CPU ? SOON_NS : 2 * SOON_NS);
	if (o->scans >
	    1) /* one scan shows no growth: the second comes on time, but counts as cost */
		o->next_ns = later_of(o->next_ns, o->paid_ns);
}

static int begin_scan(struct culprits *o, uint64_t now_ns)
{
	o->dir = opendir(o->procfs);
	if (!o->dir)
		return -errno;
	o->old = o->n;
	o->sum = (struct scan_sums){ 0 };
	o->cost_ns = 0;
	o->now_ns = now_ns;
	return 0;
}

int culprits_scan(struct culprits *o, uint64_t now_ns)
{
	uint64_t began = clock_cpu_ns();
	struct dirent *e = NULL;
	int r = o->dir ? 0 : begin_scan(o, now_ns);

	if (r < 0)
		return r;
	for (uint32_t n = 1; (e = readdir(o->dir)); n++) {
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			scan_process(o, (uint32_t)strtoul(e->d_name, NULL, 10));
		if (n % AT_ONCE == 0 && clock_cpu_ns() - began > STEP_NS)
			break;
	}
	o->cost_ns += clock_cpu_ns() - began;
	if (e)
		return 1;
	end_scan(o);
	return 0;
}

void culprits_forget(struct culprits *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		o->rows[i].did = o->rows[i].waited = 0;
		if (o->rows[i].last.pid || o->dir) /* a scan that goes on needs their places */
			o->rows[n++] = o->rows[i];
	}
	o->n = n;
	o->first_ns = o->last_ns;
}

double culprits_waiting(const struct culprits *o)
{
	return o->waiting;
}

double culprits_busy(const struct culprits *o)
{
	return o->busy;
}

double culprits_seconds(const struct culprits *o)
{
	return (double)(o->last_ns - o->first_ns) / 1e9;
}

/* The weight of r in the list of culprits or of victims. */
static double weight(const struct culprits *o, const struct row *r, bool victims)
{
	if (o->what != STALL_CPU && !r->last.inside)
		return 0; /* any process may hold the CPUs, but only those in the scope its I/O and
			     memory */
	if (victims)
		return r->last.may_wait ? r->waited / 1000 : r->waited;
	return o->what == STALL_CPU && r->last.may_wait ? r->did / 1000 : r->did;
}

struct group {
	struct culprit o;
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
	memcpy(g[*n].o.comm, r->last.comm, CULPRIT_COMM);
	return &g[(*n)++];
}

/* A new name replaces the lightest group: beyond GROUPS names, little is left out. */
static size_t rank(struct culprits *o, struct culprit *out, size_t room, bool victims)
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

size_t culprits_worst(struct culprits *o, struct culprit *out, size_t room)
{
	return rank(o, out, room, false);
}

size_t culprits_victims(struct culprits *o, struct culprit *out, size_t room)
{
	return rank(o, out, room, true);
}

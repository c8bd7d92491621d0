// SPDX-License-Identifier: Apache-2.0
#include "replay/recording.h"

#include <inttypes.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/wire/item.h"

#define DAY_US (24 * 3600 * UINT64_C(1000000))
#define FIRST_NS UINT64_C(631152000000000000) /* 1990-01-01 */
#define LAST_NS UINT64_C(4102444800000000000) /* 2100-01-01 */

enum {
	LOOK_BACK = 256, /* requests of a host searched backwards */
	ROUNDING_US = 1000, /* recordings in milliseconds round both of two times */
};

static void *grown(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		die("out of memory");
	return p;
}

static uint32_t *place_of(struct recording *r, const char *name)
{
	size_t i = hash_end(hash_add_str(HASH_START, name)) % r->places;

	while (r->place[i] && strcmp(r->name[r->place[i] - 1], name) != 0)
		i = (i + 1) % r->places;
	return &r->place[i];
}

static void more_places(struct recording *r)
{
	r->places = r->places ? r->places * 4 : 256;
	free(r->place);
	r->place = grown(NULL, r->places, sizeof(*r->place));
	memset(r->place, 0, r->places * sizeof(*r->place));
	for (uint32_t i = 0; i < r->nnames; i++)
		*place_of(r, r->name[i]) = i + 1;
}

static uint32_t recording_name(struct recording *r, const char *name)
{
	uint32_t *at;

	if (r->nnames >= r->places / 2)
		more_places(r);
	at = place_of(r, name);
	if (*at)
		return *at - 1;
	if (!(r->nnames & (r->nnames - 1)))
		r->name = grown(r->name, r->nnames ? 2 * (size_t)r->nnames : 1, sizeof(*r->name));
	r->name[r->nnames] = strndup(name, ITEM_MAX_NAME);
	if (!r->name[r->nnames])
		die("out of memory");
	*at = ++r->nnames;
	return r->nnames - 1;
}

enum { WINDOW, START, WHAT, STATUS, HOST, OTHER, TIME, MORE, COLUMNS };

static const struct csv_column columns[3][COLUMNS] = {
	[RECORD_REQUEST] = { { "window", false },
			     { "start_ns", true },
			     { "operation", false },
			     { "status", false },
			     { "host", true },
			     { "client_host", false },
			     { "request_us", true },
			     { "upstream_us", false } },
	[RECORD_CALL] = { { "window", false },
			  { "start_ns", true },
			  { "operation", false },
			  { "status", false },
			  { "caller_host", true },
			  { "callee_host", true },
			  { "caller_us", true },
			  { "callee_us", false } },
	[RECORD_EVENT] = { { "window", false },
			   { "start_ns", true },
			   { "kind", true },
			   { "severity", false },
			   { "host", true },
			   { "client_host", false },
			   { "us", false },
			   { "upstream_us", false } },
};

/* A time in another unit is the commonest mistake in a converted recording. */
static int take_start(struct csv *c, const struct csv_column *wanted, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "microseconds", 1000 },
		      { "milliseconds", 1000000 },
		      { "seconds", 1000000000 } };
	char what[200];
	int e = csv_number(c, START, wanted, UINT64_MAX, ns);

	if (e < 0 || (*ns >= FIRST_NS && *ns < LAST_NS))
		return e;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (*ns < FIRST_NS / units[i].ns || *ns >= LAST_NS / units[i].ns)
			continue;
		snprintf(what, sizeof(what),
			 "start_ns is %" PRIu64 ", a time in %s; convert it to nanoseconds since "
			 "1970",
			 *ns, units[i].name);
		return csv_bad(c, what);
	}
	snprintf(what, sizeof(what),
		 "start_ns is %" PRIu64 ", not a time from 1990 to 2099 in nanoseconds since 1970",
		 *ns);
	return csv_bad(c, what);
}

static int take_numbers(struct csv *c, const struct csv_column *wanted, struct record *one,
			uint64_t *us, uint64_t *status)
{
	int e = take_start(c, &wanted[START], &one->start_ns);

	if (e == 0)
		e = csv_number(c, TIME, &wanted[TIME], DAY_US, us);
	if (e == 0)
		e = csv_number(c, MORE, &wanted[MORE], DAY_US, &one->up_us);
	if (e == 0)
		e = csv_number(c, STATUS, &wanted[STATUS], 999, status);
	return e;
}

/* Values that are well formed but cannot be true. */
static int check_values(struct csv *c, const struct record *one, uint64_t us, uint64_t status)
{
	char what[160];

	if (!*c->value[HOST])
		return csv_bad(c, "a line names no host");
	if (one->kind == RECORD_CALL && !*c->value[OTHER])
		return csv_bad(c, "a call names no callee_host");
	if (one->kind == RECORD_REQUEST && one->up_us > us + ROUNDING_US) {
		snprintf(what, sizeof(what),
			 "upstream_us is %" PRIu64 ", more than the request_us of %" PRIu64
			 " that it is a part of",
			 one->up_us, us);
		return csv_bad(c, what);
	}
	if (one->kind == RECORD_EVENT && *c->value[STATUS] &&
	    (status < EVENT_INFO || status > EVENT_CRITICAL))
		return csv_bad(c, "severity is not 1, 2 or 3");
	if (one->kind != RECORD_EVENT && status && status < 100)
		return csv_bad(c, "status is not 0 or from 100 to 999");
	return 0;
}

static void add_record(struct recording *r, const struct record *one)
{
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 4096;
		r->record = grown(r->record, r->room, sizeof(*one));
	}
	r->record[r->n++] = *one;
}

static int take(struct recording *r, struct csv *c, enum record_kind kind)
{
	struct record one = { .kind = (uint8_t)kind, .longest = NOBODY };
	uint64_t us = 0, status = 0;
	int e = take_numbers(c, columns[kind], &one, &us, &status);

	if (e == 0)
		e = check_values(c, &one, us, status);
	if (e < 0)
		return e;
	one.end_ns = one.start_ns + us * 1000;
	one.up_us = one.up_us < us ? one.up_us : us;
	one.window = recording_name(r, c->value[WINDOW]);
	one.host = recording_name(r, c->value[HOST]);
	one.other = recording_name(r, c->value[OTHER]);
	one.what = recording_name(r, c->value[WHAT]);
	one.status = *c->value[STATUS] ? (uint16_t)status : 200;
	one.severity = (uint8_t)(kind == RECORD_EVENT && status ? status : EVENT_WARNING);
	add_record(r, &one);
	return 0;
}

static int read_file(struct recording *r, const char *path, enum record_kind kind, char *why)
{
	struct csv c;
	int e = path ? csv_open(&c, path, columns[kind], COLUMNS, why) : 0;

	if (!path || e < 0)
		return e;
	while ((e = csv_next(&c, COLUMNS)) > 0) {
		e = take(r, &c, kind);
		if (e < 0)
			break;
	}
	csv_close(&c);
	return e;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* A host's requests before the calls made by them. */
static int by_start(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int d = compare(x->window, y->window);

	d = d ? d : compare(x->host, y->host);
	d = d ? d : compare(x->start_ns, y->start_ns);
	return d ? d : compare(x->kind, y->kind);
}

static int by_end(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int d = compare(x->window, y->window);

	d = d ? d : compare(x->end_ns, y->end_ns);
	d = d ? d : compare(x->host, y->host);
	return d ? d : compare(x->kind, y->kind);
}

/*
 * Joins a call to a request of its host: to the only one that was in progress for the whole call.
 * If there are several, the call gets their route if they share one; otherwise it stays unassigned.
 */
static void join_call(struct recording *r, size_t i, uint64_t *longest_us, uint32_t nobody)
{
	struct record *call = &r->record[i];
	uint64_t us = call->end_ns - call->start_ns;
	size_t of = 0, n = 0;
	bool same = true;

	for (size_t back = 1; back <= i && back <= LOOK_BACK; back++) {
		struct record *q = &r->record[i - back];

		if (q->window != call->window || q->host != call->host)
			break;
		if (q->kind != RECORD_REQUEST || q->end_ns < call->end_ns)
			continue;
		same &= n == 0 || q->what == r->record[of].what;
		of = i - back;
		n++;
	}
	call->what = n && same ? r->record[of].what : nobody;
	r->joined += n == 1;
	r->routed += n > 1 && same;
	if (n == 1 && (r->record[of].longest == NOBODY || us > longest_us[of])) {
		r->record[of].longest = call->other;
		longest_us[of] = us;
	}
}

static void join(struct recording *r)
{
	AUTO_FREE uint64_t *longest_us = calloc(r->n, sizeof(*longest_us));
	uint32_t nobody = recording_name(r, "(client)");

	if (!longest_us)
		die("out of memory");
	qsort(r->record, r->n, sizeof(*r->record), by_start);
	for (size_t i = 0; i < r->n; i++)
		if (r->record[i].kind == RECORD_CALL)
			join_call(r, i, longest_us, nobody);
	qsort(r->record, r->n, sizeof(*r->record), by_end);
}

int recording_read(struct recording *r, const struct recording_files *f, char *why)
{
	int e = read_file(r, f->requests, RECORD_REQUEST, why);

	if (e == 0)
		e = read_file(r, f->calls, RECORD_CALL, why);
	if (e == 0)
		e = read_file(r, f->events, RECORD_EVENT, why);
	if (e == 0 && !r->n) {
		snprintf(why, CSV_WHY, "nothing is recorded in these files");
		e = -EINVAL;
	}
	if (e == 0)
		join(r);
	return e;
}

void recording_free(struct recording *r)
{
	for (uint32_t i = 0; i < r->nnames; i++)
		free(r->name[i]);
	free(r->name);
	free(r->place);
	free(r->record);
}

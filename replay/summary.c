// SPDX-License-Identifier: Apache-2.0
#include "replay/summary.h"

#include <inttypes.h>
#include <time.h>

#include "lib/base/log.h"

enum { TIME_TEXT = 32, NAMES_SHOWN = 8 };

struct span {
	uint64_t begin_ns, end_ns;
	size_t n;
};

static void extend(struct span *s, const struct record *q)
{
	s->begin_ns = s->n && s->begin_ns < q->start_ns ? s->begin_ns : q->start_ns;
	s->end_ns = s->n && s->end_ns > q->end_ns ? s->end_ns : q->end_ns;
	s->n++;
}

static const char *time_text(uint64_t ns, char out[TIME_TEXT])
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&s, &tm) || !strftime(out, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(out, TIME_TEXT, "?");
	return out;
}

static double seconds(const struct span *s)
{
	return (double)(s->end_ns - s->begin_ns) / 1e9;
}

static void print_kinds(const struct recording *r)
{
	size_t n[3] = { 0 };

	for (size_t i = 0; i < r->n; i++)
		n[r->record[i].kind]++;
	printf("requests  %zu\n", n[RECORD_REQUEST]);
	printf("calls     %zu", n[RECORD_CALL]);
	if (n[RECORD_CALL])
		printf(": %zu belong to one request of their caller, %zu only to its route, %zu "
		       "to none",
		       r->joined, r->routed, n[RECORD_CALL] - r->joined - r->routed);
	printf("\nevents    %zu\n", n[RECORD_EVENT]);
}

/* A host is one that has records of its own; the others only call or are called. */
static void print_hosts(const struct recording *r)
{
	AUTO_FREE bool *own = calloc((size_t)r->nnames + 1, 1);
	size_t hosts = 0, shown = 0;

	if (!own)
		die("out of memory");
	for (size_t i = 0; i < r->n; i++) {
		hosts += !own[r->record[i].host];
		own[r->record[i].host] = true;
	}
	printf("hosts     %zu: ", hosts);
	for (uint32_t i = 0; i < r->nnames && shown < NAMES_SHOWN; i++)
		if (own[i])
			printf("%s%s", shown++ ? ", " : "", r->name[i]);
	if (hosts > shown)
		printf(", and %zu more", hosts - shown);
	printf("\n          a token for them: seismo-collector node token --uses %zu\n", hosts);
	if (hosts > REPLAY_HOSTS_MAX)
		printf("          these are too many: at most %d hosts can be replayed\n",
		       REPLAY_HOSTS_MAX);
}

static void print_windows(const struct recording *r)
{
	char from[TIME_TEXT];

	for (size_t i = 0, next; i < r->n; i = next) {
		const char *name = r->name[r->record[i].window];
		struct span s = { 0 };

		for (next = i; next < r->n && r->record[next].window == r->record[i].window; next++)
			extend(&s, &r->record[next]);
		printf("window    %s: %zu records in %.1f s from %s\n", *name ? name : "-", s.n,
		       seconds(&s), time_text(s.begin_ns, from));
	}
}

void summary_print(const struct recording *r)
{
	char from[TIME_TEXT], to[TIME_TEXT];
	struct span all = { 0 };

	for (size_t i = 0; i < r->n; i++)
		extend(&all, &r->record[i]);
	printf("%zu requests, calls and events\n", r->n);
	print_kinds(r);
	print_hosts(r);
	printf("time      %s to %s\n", time_text(all.begin_ns, from), time_text(all.end_ns, to));
	print_windows(r);
}

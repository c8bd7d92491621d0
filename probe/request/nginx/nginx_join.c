// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_join.h"

#include <sys/queue.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum {
	BUCKETS = 4096, /* a power of two */
	WAITING = 16384, /* records; the oldest is dropped */
	REPORTED = 4096, /* of them, at most */
};
/* How long a reported record waits for the other one of its request. */
#define REPORTED_NS (90 * 1000000000ull)
#define CLOCK_NS (20 * 1000000ll) /* largest difference between two readings of the clock */

struct entry {
	TAILQ_ENTRY(entry) aged, hashed; /* both lists are sorted by age */
	uint64_t came_ns;
	uint32_t tgid;
	struct req_addr remote;
	uint64_t at_ns; /* nginx record: when it was sent; socket record: when it was read */
	bool reported; /* alone: the other record, if it comes late, is not another request */
	size_t len;
	struct req_event *e; /* one of the two */
	struct nginx_event *event;
};

TAILQ_HEAD(entries, entry);

struct nginx_join {
	nginx_join_done *done;
	void *arg;
	size_t n, nreported;
	struct entries waiting, reported, bucket[BUCKETS];
};

struct nginx_join *nginx_join_new(nginx_join_done *done, void *arg)
{
	struct nginx_join *j = calloc(1, sizeof(*j));

	if (!j)
		die("out of memory");
	j->done = done;
	j->arg = arg;
	TAILQ_INIT(&j->waiting);
	TAILQ_INIT(&j->reported);
	for (size_t i = 0; i < BUCKETS; i++)
		TAILQ_INIT(&j->bucket[i]);
	return j;
}

static struct entries *bucket_of(struct nginx_join *j, uint32_t tgid, const struct req_addr *a)
{
	uint64_t h = hash_add(hash_add(HASH_START, &tgid, sizeof(tgid)), a, sizeof(*a));

	return &j->bucket[hash_end(h) % BUCKETS];
}

static void drop_entry(struct nginx_join *j, struct entry *x)
{
	TAILQ_REMOVE(x->reported ? &j->reported : &j->waiting, x, aged);
	TAILQ_REMOVE(bucket_of(j, x->tgid, &x->remote), x, hashed);
	j->n--;
	j->nreported -= x->reported;
	free(x->e);
	free(x->event);
	free(x);
}

void nginx_join_free(struct nginx_join *j)
{
	if (!j)
		return;
	while (!TAILQ_EMPTY(&j->waiting))
		drop_entry(j, TAILQ_FIRST(&j->waiting));
	while (!TAILQ_EMPTY(&j->reported))
		drop_entry(j, TAILQ_FIRST(&j->reported));
	free(j);
}

static void set_reported(struct nginx_join *j, struct entry *x)
{
	TAILQ_REMOVE(&j->waiting, x, aged);
	TAILQ_INSERT_TAIL(&j->reported, x, aged);
	x->reported = true;
	j->nreported++;
}

static void report_record(struct nginx_join *j, struct entry *x)
{
	set_reported(j, x);
	j->done(j->arg, x->e, x->len, NULL);
}

/*
 * Makes room for one: drops the oldest records; a socket record that waits is reported without
 * nginx. Not while a list is walked.
 */
static void make_room(struct nginx_join *j)
{
	struct entry *x;

	while (j->nreported >= REPORTED)
		drop_entry(j, TAILQ_FIRST(&j->reported));
	if (j->n < WAITING)
		return;
	x = TAILQ_FIRST(TAILQ_EMPTY(&j->reported) ? &j->waiting : &j->reported);
	if (x->e && !x->reported)
		report_record(j, x);
	drop_entry(j, x);
}

static void *copy_record(const void *p, size_t len, size_t size)
{
	void *c = calloc(1, size);

	if (!c)
		die("out of memory");
	memcpy(c, p, len);
	return c;
}

static struct entry *add_entry(struct nginx_join *j, uint32_t tgid, const struct req_addr *remote,
			       uint64_t at_ns, uint64_t now_ns)
{
	struct entry *x = calloc(1, sizeof(*x));

	if (!x)
		die("out of memory");
	make_room(j);
	x->came_ns = now_ns;
	x->tgid = tgid;
	x->remote = *remote;
	x->at_ns = at_ns;
	TAILQ_INSERT_TAIL(&j->waiting, x, aged);
	TAILQ_INSERT_TAIL(bucket_of(j, tgid, remote), x, hashed);
	j->n++;
	return x;
}

static size_t event_len(const struct nginx_event *w)
{
	return w->head.ntries ? offsetof(struct nginx_event, tries[w->head.ntries])
			      : offsetof(struct nginx_event, line[w->head.line_len]);
}

static bool is_of(const struct entry *x, uint32_t tgid, const struct req_addr *remote)
{
	return x->tgid == tgid && memcmp(&x->remote, remote, sizeof(*remote)) == 0;
}

static void report_event(struct nginx_join *j, struct entry *x)
{
	set_reported(j, x);
	j->done(j->arg, NULL, 0, x->event);
}

/*
 * The sweep was first: the request of x was read before nginx sent its record, and not long before
 * the start time of nginx, which is no later than the read itself.
 */
static bool may_be_of(const struct entry *x, const struct nginx_event *w, int64_t wall_minus_mono)
{
	int64_t start = nginx_ns(w->start_sec, w->start_msec);

	return x->at_ns <= w->head.now_ns &&
	       start - wall_minus_mono < (int64_t)x->at_ns + CLOCK_NS && nginx_same_line(w, x->e);
}

void nginx_join_event(struct nginx_join *j, const struct nginx_event *w, int64_t wall_minus_mono,
		      uint64_t now_ns)
{
	const struct nginx_head *h = &w->head;
	struct entry *x, *found = NULL;

	TAILQ_FOREACH(x, bucket_of(j, h->tgid, &h->remote), hashed)
	if (x->e && is_of(x, h->tgid, &h->remote) && may_be_of(x, w, wall_minus_mono))
		found = x;
	if (!found) {
		size_t len = event_len(w);

		x = add_entry(j, h->tgid, &h->remote, h->now_ns, now_ns);
		x->event = copy_record(w, len, len < sizeof(*w) ? len : sizeof(*w));
		return;
	}
	if (!found->reported && found->e->head.flags & REQ_PIPELINED)
		j->done(j->arg, NULL, 0, w);
	else if (!found->reported)
		j->done(j->arg, found->e, found->len, w);
	drop_entry(j, found);
}

/* Counts nginx records of this connection since the read; earlier ones are reported alone. */
static size_t count_events(struct nginx_join *j, const struct req_head *h, struct entry **first)
{
	struct entry *x, *next;
	size_t n = 0;

	*first = NULL;
	for (x = TAILQ_FIRST(bucket_of(j, h->tgid, &h->remote)); x; x = next) {
		next = TAILQ_NEXT(x, hashed);
		if (!x->event || !is_of(x, h->tgid, &h->remote))
			continue;
		if (x->at_ns < h->read_ns) {
			if (!x->reported)
				report_event(j, x);
			drop_entry(j, x);
		} else if (n++ == 0) {
			*first = x;
		}
	}
	return n;
}

/* A pipeline: only nginx could separate its requests. */
static void report_pipeline(struct nginx_join *j, const struct req_head *h)
{
	struct entry *x, *next;

	for (x = TAILQ_FIRST(bucket_of(j, h->tgid, &h->remote)); x; x = next) {
		next = TAILQ_NEXT(x, hashed);
		if (!x->event || !is_of(x, h->tgid, &h->remote))
			continue;
		if (!x->reported)
			report_event(j, x);
		drop_entry(j, x);
	}
}

static struct entry *add_record(struct nginx_join *j, const struct req_event *e, size_t len,
				uint64_t now_ns)
{
	const struct req_head *h = &e->head;
	struct entry *x = add_entry(j, h->tgid, &h->remote, h->read_ns, now_ns);

	x->len = len < sizeof(*e) ? len : sizeof(*e);
	x->e = copy_record(e, x->len, sizeof(*e));
	return x;
}

void nginx_join_reported(struct nginx_join *j, const struct req_event *e, size_t len,
			 uint64_t now_ns)
{
	set_reported(j, add_record(j, e, len, now_ns));
}

void nginx_join_request(struct nginx_join *j, const struct req_event *e, size_t len,
			uint64_t now_ns)
{
	struct req_head h = e->head;
	struct entry *first;
	size_t n = count_events(j, &h, &first);

	if (n == 0) {
		add_record(j, e, len, now_ns);
	} else if (n > 1 || h.flags & REQ_PIPELINED) {
		report_pipeline(j, &h);
	} else if (!nginx_same_line(first->event, e)) {
		j->done(j->arg, e, len, NULL);
	} else {
		if (!first->reported)
			j->done(j->arg, e, len, first->event);
		drop_entry(j, first);
	}
}

void nginx_join_tick(struct nginx_join *j, uint64_t now_ns)
{
	struct entry *x, *next;

	for (x = TAILQ_FIRST(&j->waiting); x && now_ns - x->came_ns >= NGINX_WAIT_NS; x = next) {
		next = TAILQ_NEXT(x, aged);
		if (x->e)
			report_record(j, x);
		else if (now_ns - x->came_ns >= NGINX_ALONE_NS)
			report_event(j, x);
	}
	while ((x = TAILQ_FIRST(&j->reported)) && now_ns - x->came_ns >= REPORTED_NS)
		drop_entry(j, x);
}

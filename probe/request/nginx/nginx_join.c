// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_join.h"

#include <sys/queue.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum {
	BUCKETS = 4096, /* a power of two */
	WAITING = 16384, /* records; the oldest gives way */
};
#define TOLD_NS (90 * 1000000000ull) /* a connection is kept for so long, then its end tells */
#define CLOCK_NS (20 * 1000000ll) /* two readings of it are not further apart */

struct entry {
	TAILQ_ENTRY(entry) aged, hashed; /* the oldest first in each list */
	uint64_t came_ns;
	uint32_t tgid;
	struct req_addr remote;
	uint64_t at_ns; /* nginx's word: when it was said; a record: when it was read */
	bool told; /* a word that has been a request: one more record of it is not another */
	size_t len;
	struct req_event *e; /* one of both */
	struct nginx_event *word;
};

TAILQ_HEAD(entries, entry);

struct nginx_join {
	nginx_join_done *done;
	void *arg;
	size_t n;
	struct entries waiting, told, bucket[BUCKETS];
};

struct nginx_join *nginx_join_new(nginx_join_done *done, void *arg)
{
	struct nginx_join *j = calloc(1, sizeof(*j));

	if (!j)
		die("out of memory");
	j->done = done;
	j->arg = arg;
	TAILQ_INIT(&j->waiting);
	TAILQ_INIT(&j->told);
	for (size_t i = 0; i < BUCKETS; i++)
		TAILQ_INIT(&j->bucket[i]);
	return j;
}

static struct entries *bucket_of(struct nginx_join *j, uint32_t tgid, const struct req_addr *a)
{
	uint64_t h = hash_add(hash_add(HASH_START, &tgid, sizeof(tgid)), a, sizeof(*a));

	return &j->bucket[hash_end(h) % BUCKETS];
}

static void drop(struct nginx_join *j, struct entry *x)
{
	TAILQ_REMOVE(x->told ? &j->told : &j->waiting, x, aged);
	TAILQ_REMOVE(bucket_of(j, x->tgid, &x->remote), x, hashed);
	j->n--;
	free(x->e);
	free(x->word);
	free(x);
}

void nginx_join_free(struct nginx_join *j)
{
	if (!j)
		return;
	while (!TAILQ_EMPTY(&j->waiting))
		drop(j, TAILQ_FIRST(&j->waiting));
	while (!TAILQ_EMPTY(&j->told))
		drop(j, TAILQ_FIRST(&j->told));
	free(j);
}

static void tell_record(struct nginx_join *j, struct entry *x)
{
	j->done(j->arg, x->e, x->len, NULL);
	drop(j, x);
}

/* There is no room for all: the oldest record goes without nginx's word, the oldest word unheard.
 */
static void make_room(struct nginx_join *j)
{
	struct entry *x = TAILQ_FIRST(TAILQ_EMPTY(&j->told) ? &j->waiting : &j->told);

	if (j->n < WAITING)
		return;
	if (x->e)
		tell_record(j, x);
	else
		drop(j, x);
}

static void *copy(const void *p, size_t len, size_t size)
{
	void *c = calloc(1, size);

	if (!c)
		die("out of memory");
	memcpy(c, p, len);
	return c;
}

static struct entry *add(struct nginx_join *j, uint32_t tgid, const struct req_addr *remote,
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

static size_t word_len(const struct nginx_event *w)
{
	return w->head.ntries ? offsetof(struct nginx_event, tries[w->head.ntries])
			      : offsetof(struct nginx_event, line[w->head.line_len]);
}

static bool is_of(const struct entry *x, uint32_t tgid, const struct req_addr *remote)
{
	return x->tgid == tgid && memcmp(&x->remote, remote, sizeof(*remote)) == 0;
}

static void tell_word(struct nginx_join *j, struct entry *x)
{
	TAILQ_REMOVE(&j->waiting, x, aged);
	TAILQ_INSERT_TAIL(&j->told, x, aged);
	x->told = true;
	j->done(j->arg, NULL, 0, x->word);
}

/*
 * Where the sweep came first: the record's request was read before the word was said, and not long
 * before what nginx took for its start, which is no later than the read itself.
 */
static bool may_be_of(const struct entry *x, const struct nginx_event *w, int64_t wall_minus_mono)
{
	int64_t start = (int64_t)(w->start_sec * 1000 + w->start_msec) * 1000000;

	return x->at_ns <= w->head.now_ns &&
	       start - wall_minus_mono < (int64_t)x->at_ns + CLOCK_NS && nginx_same_line(w, x->e);
}

void nginx_join_word(struct nginx_join *j, const struct nginx_event *w, int64_t wall_minus_mono,
		     uint64_t now_ns)
{
	const struct nginx_head *h = &w->head;
	struct entry *x, *found = NULL;

	TAILQ_FOREACH(x, bucket_of(j, h->tgid, &h->remote), hashed)
	if (x->e && is_of(x, h->tgid, &h->remote) && may_be_of(x, w, wall_minus_mono))
		found = x;
	if (!found) {
		size_t len = word_len(w);

		x = add(j, h->tgid, &h->remote, h->now_ns, now_ns);
		x->word = copy(w, len, len < sizeof(*w) ? len : sizeof(*w));
		return;
	}
	if (found->e->head.flags & REQ_PIPELINED)
		j->done(j->arg, NULL, 0, w);
	else
		j->done(j->arg, found->e, found->len, w);
	drop(j, found);
}

/* The words of this connection since the record was read; those before had no record. */
static size_t words_of(struct nginx_join *j, const struct req_head *h, struct entry **first)
{
	struct entry *x, *next;
	size_t n = 0;

	*first = NULL;
	for (x = TAILQ_FIRST(bucket_of(j, h->tgid, &h->remote)); x; x = next) {
		next = TAILQ_NEXT(x, hashed);
		if (!x->word || !is_of(x, h->tgid, &h->remote))
			continue;
		if (x->at_ns < h->read_ns) {
			if (!x->told)
				tell_word(j, x);
			drop(j, x);
		} else if (n++ == 0) {
			*first = x;
		}
	}
	return n;
}

/* They were pipelined: nginx told them apart, the sockets could not. */
static void tell_all(struct nginx_join *j, const struct req_head *h)
{
	struct entry *x, *next;

	for (x = TAILQ_FIRST(bucket_of(j, h->tgid, &h->remote)); x; x = next) {
		next = TAILQ_NEXT(x, hashed);
		if (!x->word || !is_of(x, h->tgid, &h->remote))
			continue;
		if (!x->told)
			tell_word(j, x);
		drop(j, x);
	}
}

void nginx_join_request(struct nginx_join *j, const struct req_event *e, size_t len,
			uint64_t now_ns)
{
	struct req_head h = e->head;
	struct entry *first, *x;
	size_t n = words_of(j, &h, &first);

	if (n == 0) {
		x = add(j, h.tgid, &h.remote, h.read_ns, now_ns);
		x->len = len < sizeof(*e) ? len : sizeof(*e);
		x->e = copy(e, x->len, sizeof(*e));
	} else if (n > 1 || h.flags & REQ_PIPELINED) {
		tell_all(j, &h);
	} else if (!nginx_same_line(first->word, e)) {
		j->done(j->arg, e, len, NULL);
	} else {
		if (!first->told)
			j->done(j->arg, e, len, first->word);
		drop(j, first);
	}
}

void nginx_join_tick(struct nginx_join *j, uint64_t now_ns)
{
	struct entry *x, *next;

	for (x = TAILQ_FIRST(&j->waiting); x && now_ns - x->came_ns >= NGINX_WAIT_NS; x = next) {
		next = TAILQ_NEXT(x, aged);
		if (x->e)
			tell_record(j, x);
		else if (now_ns - x->came_ns >= NGINX_ALONE_NS)
			tell_word(j, x);
	}
	while ((x = TAILQ_FIRST(&j->told)) && now_ns - x->came_ns >= TOLD_NS)
		drop(j, x);
}

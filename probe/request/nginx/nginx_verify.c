// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_verify.h"

#include "lib/base/log.h"

enum {
	KEPT = 64,
	ENOUGH = 3, /* matches needed */
	FOR_ONE = 4, /* further matches needed for each mismatch, as a connection may be odd */
	TOO_MANY = 5, /* mismatches that refute the offsets */
};
#define NEAR_NS (2 * 1000000000ll)

struct score {
	uint32_t right, wrong;
};

struct kept_event {
	bool open, tries_open;
	struct nginx_event e;
};

struct nginx_verify {
	struct score requests, tries;
	uint32_t next;
	struct kept_event kept[KEPT]; /* the oldest is overwritten */
};

struct nginx_verify *nginx_verify_new(void)
{
	struct nginx_verify *t = calloc(1, sizeof(*t));

	if (!t)
		die("out of memory");
	return t;
}

void nginx_verify_free(struct nginx_verify *t)
{
	free(t);
}

static void count_finding(struct score *s, bool right)
{
	if (right)
		s->right++;
	else
		s->wrong++;
}

static enum nginx_finding finding_of(const struct score *s)
{
	if (s->right >= ENOUGH + FOR_ONE * s->wrong)
		return NGINX_RIGHT;
	return s->wrong >= TOO_MANY ? NGINX_WRONG : NGINX_OPEN;
}

enum nginx_finding nginx_verify_requests(const struct nginx_verify *t)
{
	return finding_of(&t->requests);
}

enum nginx_finding nginx_verify_tries(const struct nginx_verify *t)
{
	return finding_of(&t->tries);
}

void nginx_verify_event(struct nginx_verify *t, const struct nginx_event *w)
{
	struct kept_event *k = &t->kept[t->next++ % KEPT];
	size_t len = w->head.ntries ? offsetof(struct nginx_event, tries[w->head.ntries])
				    : offsetof(struct nginx_event, line[w->head.line_len]);

	k->open = true;
	k->tries_open = w->head.ntries > 0;
	memcpy(&k->e, w, len);
}

static bool is_near_ns(int64_t a, int64_t b)
{
	return a - b < NEAR_NS && b - a < NEAR_NS;
}

/* Line, times and status: each is read by a different offset. */
static bool request_right(const struct nginx_event *w, const struct req_event *e,
			  const struct request_context *x)
{
	int64_t start = nginx_ns(w->start_sec, w->start_msec);
	int64_t end = nginx_ns(w->end_sec, w->end_msec);

	return nginx_same_line(w, e) && w->start_msec < 1000 && w->end_msec < 1000 &&
	       is_near_ns(start, (int64_t)e->head.read_ns + x->wall_minus_mono_ns) &&
	       (!w->end_sec || is_near_ns(end, (int64_t)w->head.now_ns + x->wall_minus_mono_ns)) &&
	       nginx_status(w) == e->head.status;
}

static bool same_call(const struct nginx_try *try, const struct req_call *c,
		      const struct request_context *x)
{
	char peer[UNIX_TEXT], path[UNIX_TEXT], a[ADDR_TEXT], b[ADDR_TEXT];
	struct up_item is, was;

	if (!nginx_peer(try, peer, &is))
		return false;
	request_call_read(c, c->start_ns, c->last_ns, x, path, &was);
	return strcmp(up_addr_text(&is, a), up_addr_text(&was, b)) == 0 &&
	       (!was.status || was.status == try->status);
}

/* The last try is among the calls that the sockets saw. */
static bool tries_right(const struct nginx_event *w, const struct req_event *e,
			const struct request_context *x)
{
	const struct nginx_try *last = &w->tries[w->head.ntries - 1];

	for (uint32_t i = 0; i < e->head.ncalls && i < REQ_CALLS; i++)
		if (same_call(last, &e->call[i], x))
			return true;
	return false;
}

/* The only stored nginx record of the same connection that ended after the request was read. */
static struct kept_event *find_record(struct nginx_verify *t, const struct req_event *e)
{
	struct kept_event *found = NULL;

	for (uint32_t i = 0; i < KEPT; i++) {
		struct kept_event *k = &t->kept[i];
		const struct nginx_head *h = &k->e.head;

		if (!k->open || h->tgid != e->head.tgid || h->now_ns < e->head.read_ns ||
		    memcmp(&h->remote, &e->head.remote, sizeof(h->remote)) != 0)
			continue;
		if (found)
			return NULL;
		found = k;
	}
	return found;
}

void nginx_verify_request(struct nginx_verify *t, const struct req_event *e,
			  const struct request_context *x)
{
	uint32_t odd = REQ_PIPELINED | REQ_CLIENT_CLOSED | REQ_NO_ANSWER | REQ_HEAD_MISSED;
	struct kept_event *k = e->head.flags & odd ? NULL : find_record(t, e);

	if (!k)
		return;
	k->open = false;
	count_finding(&t->requests, request_right(&k->e, e, x));
	if (!k->tries_open || !e->head.ncalls)
		return;
	k->tries_open = false;
	count_finding(&t->tries, tries_right(&k->e, e, x));
}

void nginx_verify_call(struct nginx_verify *t, const struct req_call_event *c,
		       const struct request_context *x)
{
	for (uint32_t i = 0; i < KEPT; i++) {
		struct kept_event *k = &t->kept[i];
		const struct nginx_event *w = &k->e;

		if (!k->tries_open || w->head.tgid != c->tgid ||
		    !is_near_ns((int64_t)w->head.now_ns, (int64_t)c->call.last_ns) ||
		    !same_call(&w->tries[w->head.ntries - 1], &c->call, x))
			continue;
		k->tries_open = false;
		count_finding(&t->tries, true);
		return;
	}
}

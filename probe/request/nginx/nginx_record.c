// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_record.h"

#include <arpa/inet.h>
#include <stdio.h>

#define TIME_MAX_S 4294967295ull /* in 2106; later ones are no times */
#define NEVER (~0ull) /* a time that was not reached */

enum {
	MS = 1000,
	CLIENT_CLOSED = 499,
	LATE_MS = 1 << 30,
	LINE_LEAST = 5, /* "GET /" */
};

bool nginx_event_complete(const struct nginx_event *w, size_t len)
{
	if (len < offsetof(struct nginx_event, line) || w->head.line_len > REQ_LINE ||
	    w->head.ntries > NGINX_TRIES)
		return false;
	if (w->head.ntries)
		return len >= offsetof(struct nginx_event, tries[w->head.ntries]);
	return len >= offsetof(struct nginx_event, line[w->head.line_len]);
}

bool nginx_same_line(const struct nginx_event *w, const struct req_event *e)
{
	size_t a = w->head.line_len, b = e->head.line_len, n = a < b ? a : b;

	return n >= LINE_LEAST && memcmp(w->line, e->line, n) == 0;
}

uint16_t nginx_status(const struct nginx_event *w)
{
	bool is_rc = w->head.rc > 0 && (w->status == 0 || w->head.sent == 0);
	uint64_t status = is_rc ? (uint64_t)w->head.rc : w->status;

	return status >= 100 && status <= 599 ? (uint16_t)status : 0;
}

static struct addr addr_read(const char *text)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	int family = text[0] == '[' ? AF_INET6 : AF_INET;
	unsigned char ip[16];
	char *end;
	unsigned long port;

	if (!len || len >= sizeof(host) || !colon[1])
		return (struct addr){ 0 };
	if (family == AF_INET6) {
		text++;
		len = len > 2 ? len - 2 : 0;
	}
	memcpy(host, text, len);
	host[len] = 0;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > UINT16_MAX || inet_pton(family, host, ip) != 1)
		return (struct addr){ 0 };
	return addr_make(ip, family == AF_INET ? 4 : 16, (uint16_t)port);
}

static uint64_t us_of(uint64_t ms)
{
	return ms < LATE_MS ? ms * MS : 0;
}

/* Equal within the resolution of nginx's clock. */
static bool is_near(uint64_t us, uint64_t ms)
{
	return us + MS > us_of(ms) && us < us_of(ms) + MS;
}

bool nginx_peer(const struct nginx_try *t, char text[static UNIX_TEXT], struct up_item *out)
{
	size_t len = t->peer_len < UNIX_TEXT - 1 ? (size_t)t->peer_len : UNIX_TEXT - 1;

	if (!len)
		return false;
	snprintf(text, UNIX_TEXT, "%.*s", (int)(len < NGINX_PEER ? len : NGINX_PEER), t->peer);
	*out = (struct up_item){ .addr = addr_read(text) };
	if (!out->addr.len)
		out->path = text;
	return true;
}

static bool try_read(const struct nginx_try *t, char text[static UNIX_TEXT], struct up_item *out)
{
	if (!nginx_peer(t, text, out))
		return false;
	out->status = t->status <= 599 ? (uint16_t)t->status : 0;
	out->response_us = us_of(t->response_ms);
	out->connect_us = us_of(t->connect_ms);
	if (t->connect_ms == NEVER)
		out->flags = UP_NO_CONNECT;
	else if (t->header_ms == NEVER)
		out->flags = UP_NO_ANSWER;
	return true;
}

static bool same_peer(const struct up_item *a, const struct up_item *b)
{
	if (a->path || b->path)
		return a->path && b->path && strcmp(a->path, b->path) == 0;
	return addr_equal(&a->addr, &b->addr);
}

/* Merges the call that the sockets saw of the same try. */
static void merge_call(struct up_item *u, const struct nginx_try *t, const struct up_item *seen)
{
	struct up_item log = *u;

	*u = *seen;
	u->status = log.status;
	u->flags |= log.flags;
	if (t->response_ms != NEVER && !is_near(seen->response_us, t->response_ms))
		u->response_us = log.response_us;
	if (!(u->flags & UP_REUSED) && t->connect_ms != NEVER &&
	    !is_near(seen->connect_us, t->connect_ms))
		u->connect_us = log.connect_us;
}

struct merge {
	uint32_t n;
	struct up_item item[NGINX_TRIES];
	const struct nginx_try *try[NGINX_TRIES];
	bool seen[NGINX_TRIES]; /* seen by the sockets too: its start is known */
	bool taken[ITEM_MAX_UPS]; /* calls that were matched */
};

/* The last call before end to the same peer, preferring one of the same duration. */
static uint32_t find_call(const struct merge *m, uint32_t k, const struct request_item *r,
			  uint32_t end)
{
	uint32_t found = end;

	for (uint32_t j = end; j-- > 0;) {
		if (!same_peer(&m->item[k], &r->ups[j]))
			continue;
		if (is_near(r->ups[j].response_us, m->try[k]->response_ms))
			return j;
		if (found == end)
			found = j;
	}
	return found;
}

/* Matches from the last try backwards: calls of subrequests come first. */
static void find_calls(struct merge *m, const struct request_item *r)
{
	uint32_t end = r->nups;

	for (uint32_t k = m->n; k-- > 0;) {
		uint32_t j = find_call(m, k, r, end);

		if (j == end)
			continue;
		merge_call(&m->item[k], m->try[k], &r->ups[j]);
		m->seen[k] = m->taken[j] = true;
		end = j;
	}
}

static uint64_t time_before(uint64_t us, uint64_t by)
{
	return us > by ? us - by : 0;
}

/*
 * Estimates the starts of tries, which nginx does not record. Tries follow each other, and the
 * header is passed to the client as it arrives: so a try began that much earlier by its duration.
 */
static void find_starts(struct merge *m, const struct request_item *r)
{
	uint64_t next = r->request_us;

	for (uint32_t k = m->n; k-- > 0;) {
		struct up_item *u = &m->item[k];
		bool by_head = k + 1 == m->n && r->first_us && m->try[k]->header_ms != NEVER;

		if (!m->seen[k])
			u->start_us =
				by_head ? time_before(r->first_us, us_of(m->try[k]->header_ms))
					: time_before(next, u->response_us);
		next = u->start_us;
	}
}

/* Inserts in order of start; the bits of unseen move along. */
static void insert_try(struct request_item *r, const struct up_item *u, bool seen, uint32_t *unseen)
{
	uint32_t at = r->nups++, low;

	for (; at > 0 && r->ups[at - 1].start_us > u->start_us; at--)
		r->ups[at] = r->ups[at - 1];
	r->ups[at] = *u;
	low = (1u << at) - 1;
	*unseen = (*unseen & low) | (*unseen & ~low) << 1 | (seen ? 0 : 1u << at);
}

/* Drops calls that began after nginx freed the request: they belong to a later, already read one.
 */
static void drop_later_calls(const struct nginx_event *w, uint64_t read_ns, struct request_item *r)
{
	uint64_t freed_us = w->head.now_ns > read_ns ? (w->head.now_ns - read_ns) / 1000 : 0;

	while (r->nups && r->ups[r->nups - 1].start_us > freed_us)
		r->nups--;
}

uint32_t nginx_apply(const struct nginx_event *w, uint64_t read_ns, struct nginx_text *text,
		     struct request_item *r)
{
	struct merge m = { 0 };
	struct up_item was[ITEM_MAX_UPS];
	uint32_t nwas, unseen = 0;

	drop_later_calls(w, read_ns, r);
	nwas = r->nups;
	for (uint32_t i = 0; i < w->head.ntries; i++) {
		m.try[m.n] = &w->tries[i];
		if (try_read(m.try[m.n], text->peer[m.n], &m.item[m.n]))
			m.n++;
	}
	if (!m.n)
		return 0;
	find_calls(&m, r);
	find_starts(&m, r);
	memcpy(was, r->ups, sizeof(was));
	r->nups = 0;
	for (uint32_t k = 0; k < m.n; k++)
		insert_try(r, &m.item[k], m.seen[k], &unseen);
	for (uint32_t j = 0; j < nwas && r->nups < ITEM_MAX_UPS; j++)
		if (!m.taken[j])
			insert_try(r, &was[j], true, &unseen);
	r->flags &= ~(uint32_t)(REQUEST_UPSTREAM_UNKNOWN | REQUEST_UPS_CUT);
	if (w->nstates > w->head.ntries)
		r->flags |= REQUEST_UPS_CUT;
	return unseen;
}

/* nginx makes up a request line for HTTP/2 and HTTP/3; it is rewritten to HTTP/1.1 for the parser.
 */
static void make_line(const struct nginx_event *w, struct req_event *out)
{
	static const char two[] = "HTTP/2.0", three[] = "HTTP/3.0", one[] = "HTTP/1.1";
	size_t len = w->head.line_len, version = sizeof(one) - 1;

	out->head.line_len = w->head.line_len;
	memcpy(out->line, w->line, len);
	if (len > version && (memcmp(w->line + len - version, two, version) == 0 ||
			      memcmp(w->line + len - version, three, version) == 0))
		memcpy(out->line + len - version, one, version);
}

int64_t nginx_ns(uint64_t sec, uint64_t msec)
{
	if (sec > TIME_MAX_S || msec >= 1000)
		return 0;
	return (int64_t)(sec * 1000 + msec) * 1000000;
}

size_t nginx_make_request(const struct nginx_event *w, int64_t wall_minus_mono_ns,
			  struct req_event *out)
{
	struct req_head *h = &out->head;
	int64_t start = nginx_ns(w->start_sec, w->start_msec) - wall_minus_mono_ns;
	int64_t end = w->end_sec ? nginx_ns(w->end_sec, w->end_msec) - wall_minus_mono_ns
				 : (int64_t)w->head.now_ns;

	memset(h, 0, sizeof(*h));
	h->kind = REQ_KIND_REQUEST;
	h->read_ns = start > 0 ? (uint64_t)start : 0;
	h->last_ns = end > start ? (uint64_t)end : h->read_ns;
	h->tgid = w->head.tgid;
	h->tid = w->head.tid;
	memcpy(h->comm, w->head.comm, sizeof(h->comm));
	h->remote = w->head.remote;
	h->local = w->head.local;
	h->bytes_out = w->head.sent > 0 ? (uint64_t)w->head.sent : 0;
	h->status = nginx_status(w);
	if (h->status == CLIENT_CLOSED)
		h->flags |= REQ_CLIENT_CLOSED;
	else if (h->status == 0)
		h->flags |= REQ_NO_ANSWER;
	make_line(w, out);
	return offsetof(struct req_event, line[w->head.line_len]);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/record/request_event.h"

#include <stdio.h>

#include "probe/request/record/http.h"
#include "probe/request/record/route.h"

enum { LARGE_BODY = 1000000 }; /* its duration depends on the client's network */

_Static_assert((int)ITEM_MAX_UPS == (int)REQ_CALLS, "every call fits");
_Static_assert(sizeof(((struct request_text *)0)->route) >= ROUTE_TEXT, "route");

static uint64_t us_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (to_ns - from_ns) / 1000 : 0;
}

static struct addr addr_read(const struct req_addr *a)
{
	if (a->len != 4 && a->len != 16)
		return (struct addr){ 0 };
	return addr_make(a->ip, a->len, a->port);
}

void request_call_read(const struct req_call *c, uint64_t read_ns, uint64_t end_ns,
		       const struct request_context *x, char path[static UNIX_TEXT],
		       struct up_item *out)
{
	*out = (struct up_item){ .addr = addr_read(&c->addr),
				 .start_us = us_between(read_ns, c->start_ns),
				 .response_us =
					 us_between(c->start_ns, c->last_ns ? c->last_ns : end_ns),
				 .status = c->status,
				 .error = c->error,
				 .retrans = c->retrans,
				 .srtt_us = c->srtt_us,
				 .local_port = c->local_port };
	if (c->addr.len == REQ_ADDR_UNIX && x->unix_name)
		out->path = x->unix_name(x->arg, &c->addr, path);
	if (c->connect_ns)
		out->connect_us = us_between(c->start_ns, c->connect_ns);
	out->flags = (c->flags & CALL_REUSED ? UP_REUSED : 0) |
		     (c->flags & CALL_FAILED ? UP_NO_CONNECT : 0) |
		     (c->flags & CALL_NO_ANSWER ? UP_NO_ANSWER : 0);
}

static void calls_read(const struct req_event *e, const struct request_context *x,
		       struct request_text *t, struct request_item *out)
{
	uint32_t n = e->head.ncalls < REQ_CALLS ? e->head.ncalls : REQ_CALLS;

	for (uint32_t i = 0; i < n; i++)
		if (e->call[i].flags & (CALL_SENT | CALL_FAILED))
			request_call_read(&e->call[i], e->head.read_ns, e->head.last_ns, x,
					  t->up_path[i], &out->ups[out->nups++]);
}

bool request_peer_read(const struct req_event *e, size_t len, const struct request_context *x,
		       char path[static UNIX_TEXT], struct up_item *out)
{
	if (len < sizeof(*e) || !e->peer.addr.len)
		return false;
	*out = (struct up_item){ .addr = addr_read(&e->peer.addr),
				 .response_us = e->peer.wait_ns / 1000 };
	if (e->peer.addr.len == REQ_ADDR_UNIX && x->unix_name)
		out->path = x->unix_name(x->arg, &e->peer.addr, path);
	return true;
}

void request_names_read(const struct req_event *e, struct request_text *t, struct request_item *out)
{
	http_names_read(e->line, e->head.line_len, &t->names);
	out->trace = *t->names.trace ? t->names.trace : NULL;
	out->sent_id = *t->names.id ? t->names.id : NULL;
}

/* Appends as much as fits; false: truncated. */
static bool path_add(struct request_text *t, size_t *used, const char *s, size_t len)
{
	size_t room = ITEM_MAX_PATH - *used, n = len < room ? len : room;

	memcpy(t->path + *used, s, n);
	*used += n;
	t->path[*used] = 0;
	return n == len;
}

static void target_read(const struct http_line *l, bool query, struct request_text *t,
			struct request_item *out)
{
	size_t used = 0;
	bool whole = path_add(t, &used, l->path, l->path_len) && !(l->cut && (query || !l->query));

	if (query &&
	    l->query) /* may not directly follow the path, e.g. for a full URL without one */
		whole &= path_add(t, &used, "?", 1) && path_add(t, &used, l->query, l->query_len);
	if (!whole)
		out->flags |= REQUEST_PATH_CUT;
	memcpy(t->method, l->method, sizeof(t->method));
	route_template(l->method, l->path, l->path_len, t->route);
}

static uint32_t flags_read(const struct req_head *h)
{
	uint32_t f = h->flags;
	bool by_first = h->first_ns && (f & REQ_STREAM || h->bytes_out > LARGE_BODY);

	return (by_first ? REQUEST_BY_FIRST : 0) |
	       (f & REQ_CLIENT_CLOSED ? REQUEST_CLIENT_CLOSED : 0) |
	       (f & REQ_NO_ANSWER ? REQUEST_NO_ANSWER : 0) |
	       (f & REQ_PIPELINED ? REQUEST_PIPELINED : 0) |
	       (f & (REQ_HOPPED | REQ_DOUBTFUL) ? REQUEST_UPSTREAM_UNKNOWN : 0) |
	       (f & REQ_CALLS_CUT ? REQUEST_UPS_CUT : 0);
}

/* A difference of one jiffy is within the error of the clock of arrival times. */
static uint64_t queue_us(const struct req_head *h, uint64_t jiffy_ns)
{
	return h->queue_jiffies > 1 && h->queue_jiffies < 1u << 24
		       ? h->queue_jiffies * jiffy_ns / 1000
		       : 0;
}

int request_event_read(const struct req_event *e, size_t len, const struct request_context *x,
		       struct request_text *t, struct request_item *out)
{
	const struct req_head *h = &e->head;
	struct http_line line;
	size_t need = h->ncalls ? sizeof(*e) : sizeof(*h) + h->line_len;

	if (h->line_len > REQ_LINE || len < need ||
	    http_line_parse(e->line, h->line_len, &line) < 0)
		return -EBADMSG;
	memset(out, 0, sizeof(*out));
	snprintf(t->comm, sizeof(t->comm), "%.*s", REQ_COMM, h->comm);
	out->start_ns = h->read_ns + (uint64_t)x->wall_minus_mono_ns;
	out->comm = t->comm;
	out->pid = h->tgid;
	out->tid = h->tid;
	out->remote = addr_read(&h->remote);
	out->local = addr_read(&h->local);
	out->flags = flags_read(h);
	target_read(&line, x->query_string, t, out);
	out->method = t->method;
	out->path = t->path;
	out->route = t->route;
	out->status = h->flags & REQ_CLIENT_CLOSED ? 499 : h->status;
	out->request_us = us_between(h->read_ns, h->last_ns);
	out->first_us = us_between(h->read_ns, h->first_ns);
	out->queue_us = queue_us(h, x->jiffy_ns);
	out->bytes_in = h->bytes_in;
	out->bytes_out = h->bytes_out;
	out->retrans = h->retrans;
	out->srtt_us = h->srtt_us;
	out->rcv_ooo = h->rcv_ooo;
	calls_read(e, x, t, out);
	return 0;
}

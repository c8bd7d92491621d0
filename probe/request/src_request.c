// SPDX-License-Identifier: Apache-2.0
/* src_request.c - HTTP/1 requests, from bpf/request/: all counted, abnormal ones reported. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/procfs/app.h"
#include "probe/request/judge/detect.h"
#include "probe/request/explain/explain.h"
#include "probe/request/judge/baseline_file.h"
#include "probe/core/layout.h"
#include "probe/request/nginx/nginx.h"
#include "probe/request/red/red_item.h"
#include "probe/request/record/request_event.h"
#include "probe/request/kernel/request_kernel.h"
#include "probe/core/source.h"
#include "probe/request/explain/verdict.h"

#define TICK_NS (2 * 1000000000ull)
#define BUSY_NS (2 * 1000000000ull) /* no rest within this time after a record */
#define LOSSY_NS (5 * 1000000000ull) /* no cause is ruled out for this long after a loss */
enum {
	FLUSH_TICKS =
		5, /* ticks between counts of known keys; new keys are sent with the next tick */
	UNREAD_APPS = 32,
};

struct unread {
	char app[APP_NAME];
	const char *kind;
	uint64_t count;
};

struct request_source {
	struct request_kernel *kernel;
	struct apps *apps;
	struct red *red;
	struct detect *detect;
	struct explain *explain;
	struct baseline_file *baseline_file;
	struct nginx *nginx;
	const struct probe_config *config;
	struct request_context context;
	struct unread unread[UNREAD_APPS];
	size_t nunread;
	uint64_t n[COVERAGE_END], sent[COVERAGE_END]; /* totals, and the part that was sent */
	uint64_t busy_ns; /* time of the last record */
	uint64_t next_tick_ns, tick;
	uint64_t blocks_full; /* waits dropped because the ring was full */
	uint64_t lost, lossy_ns; /* records and sockets lost; time of the last loss */
	uint64_t second_ns; /* the row budget is per second */
	int64_t rows_left;
	uint64_t now_ns;
	struct sink *out; /* during a read */
};

/* Excludes Seismo's own daemons: reporting their traffic would cause more traffic. */
static bool is_own(const char *comm)
{
	return strncmp(comm, "seismo-", 7) == 0;
}

static void unread_count(struct request_source *s, const char *app, const char *kind)
{
	struct unread *u = NULL;

	for (size_t i = 0; i < s->nunread && !u; i++)
		if (s->unread[i].kind == kind && strcmp(s->unread[i].app, app) == 0)
			u = &s->unread[i];
	if (!u && s->nunread < UNREAD_APPS) {
		u = &s->unread[s->nunread++];
		*u = (struct unread){ .kind = kind };
		snprintf(u->app, sizeof(u->app), "%s", app);
	}
	if (u)
		u->count++;
	s->n[COVERAGE_UNREAD]++;
}

/* Sends a row, if the budget of this second allows it. */
static void send_request_row(struct request_source *s, const struct req_head *h,
			     const struct breakdown *split, const struct judged *j,
			     struct explain_context *c, struct request_item *r)
{
	c->wall_minus_mono_ns = s->context.wall_minus_mono_ns;
	c->unwatched = !request_kernel_splits(s->kernel);
	c->no_clock = !s->context.jiffy_ns;
	c->lossy = clock_mono_ns() - s->lossy_ns < LOSSY_NS;

	if (s->rows_left <= 0) {
		s->n[COVERAGE_WITHHELD]++;
		return;
	}
	s->rows_left--;
	s->n[COVERAGE_ROWS]++;
	explain_request(s->explain, h, split, j, c, r);
	sink_request(s->out, r);
}

/* e: NULL if only nginx reported the request; event: NULL if nginx did not report it. */
static void on_request(void *arg, const struct req_event *e, size_t len,
		       const struct nginx_event *event)
{
	struct request_source *s = arg;
	struct request_text text;
	struct nginx_text nginx_text;
	struct req_event made;
	struct request_item r;
	struct judged judged;
	struct breakdown split;
	struct explain_context c = { .alone = !e };
	char peer_path[UNIX_TEXT];
	struct up_item peer;
	uint32_t unseen = 0;
	bool abnormal, called;

	if (!e) {
		len = nginx_make_request(event, s->context.wall_minus_mono_ns, &made);
		e = &made;
	}
	if (request_event_read(e, len, &s->context, &text, &r) < 0 || is_own(text.comm))
		return;
	if (event)
		unseen = nginx_apply(event, e->head.read_ns, &nginx_text, &r);
	r.app = apps_name(s->apps, r.pid, text.comm);
	s->n[COVERAGE_SEEN]++;
	s->n[COVERAGE_CALLS_UNCLEAR] += (r.flags & REQUEST_UPSTREAM_UNKNOWN) != 0;
	s->n[COVERAGE_HEAD_MISSED] += (e->head.flags & REQ_HEAD_MISSED) != 0;
	if (r.flags & REQUEST_PIPELINED) {
		s->n[COVERAGE_PIPELINED]++;
		unread_count(s, r.app, "pipelined");
		return;
	}
	explain_seen(s->explain, &e->head);
	breakdown_of(&e->head, breakdown_help(e, len), &r, &split);
	abnormal =
		detect_judge(s->detect, &r, &split, &judged); /* also sets what it was judged by */
	called = request_peer_read(e, len, &s->context, peer_path, &peer);
	red_item_request(s->red, &r, called && peer.response_us ? &peer : NULL,
			 c.alone ? 0 : unseen, s->now_ns);
	c.unseen = unseen != 0;
	if (called) {
		c.peer = &peer;
		c.peer_did = &e->peer;
	}
	if (abnormal) {
		request_names_read(e, &text, &r);
		send_request_row(s, &e->head, &split, &judged, &c, &r);
	}
}

static void on_call(struct request_source *s, const struct req_call_event *e)
{
	char comm[REQ_COMM + 1], path[UNIX_TEXT];
	struct up_item u;

	nginx_orphan_call(s->nginx, e);
	snprintf(comm, sizeof(comm), "%.*s", REQ_COMM, e->comm);
	if (is_own(comm))
		return;
	request_call_read(&e->call, e->call.start_ns, e->call.last_ns, &s->context, path, &u);
	s->n[COVERAGE_CLIENT_CALLS]++;
	red_item_call(s->red, apps_name(s->apps, e->tgid, comm), "(client)", &u, s->now_ns);
}

static void on_unread(struct request_source *s, const struct req_head *h)
{
	static const char *const kinds[] = { [REQ_UNREAD_TLS] = "tls",
					     [REQ_UNREAD_HTTP2] = "http2",
					     [REQ_UNREAD_UPGRADED] = "upgraded",
					     [REQ_UNREAD_URING] = "io_uring" };
	char comm[REQ_COMM + 1];

	if ((h->flags == REQ_UNREAD_TLS || h->flags == REQ_UNREAD_HTTP2) &&
	    nginx_reports(s->nginx, h->tgid, s->now_ns))
		return;
	snprintf(comm, sizeof(comm), "%.*s", REQ_COMM, h->comm);
	if (h->flags > 0 && h->flags < ARRAY_SIZE(kinds))
		unread_count(s, apps_name(s->apps, h->tgid, comm), kinds[h->flags]);
}

static int on_record(void *arg, void *data, size_t len)
{
	struct request_source *s = arg;
	const struct req_head *h = data;

	if (len >= sizeof(struct req_head) && h->kind == REQ_KIND_REQUEST) {
		if (!nginx_accept(s->nginx, data, len, s->now_ns))
			on_request(s, data, len, NULL);
	} else if (len >= sizeof(struct req_call_event) && h->kind == REQ_KIND_CALL)
		on_call(s, data);
	else if (len >= sizeof(struct req_head) && h->kind == REQ_KIND_UNREAD)
		on_unread(s, h);
	else if (len >= sizeof(struct req_block) && h->kind == REQ_KIND_BLOCK)
		explain_block(s->explain, data);
	else if (h->kind == REQ_KIND_NGINX || h->kind == REQ_KIND_NGINX_LOOK)
		nginx_record(s->nginx, data, len, s->now_ns);
	else if (len >= sizeof(struct req_stack) && h->kind == REQ_KIND_STACK)
		explain_stack(s->explain, data);
	return 0;
}

static const char *unix_name(void *arg, const struct req_addr *a, char text[static UNIX_TEXT])
{
	struct request_source *s = arg;

	return request_kernel_unix(s->kernel, a, text);
}

static void request_close(void *self)
{
	struct request_source *s = self;

	nginx_close(s->nginx);
	request_kernel_close(s->kernel);
	baseline_file_close(s->baseline_file);
	explain_free(s->explain);
	detect_free(s->detect);
	red_free(s->red);
	apps_free(s->apps);
}

static int request_open(void *self, const struct probe_env *env)
{
	struct request_source *s = self;
	struct request_options o = { .hooks = env->config->hooks,
				     .ring_bytes = (size_t)env->config->ring_mb << 20,
				     .conns = (uint32_t)env->config->conns,
				     .split = env->config->split,
				     .procfs = env->procfs,
				     .chain = env->chain };
	int r = scope_find(env->config->scope, env->procfs, &o.scope, env->why);

	if (r < 0)
		return r;
	s->config = env->config;
	s->context.query_string = env->config->query_string;
	s->context.unix_name = unix_name;
	s->context.arg = s;
	s->apps = apps_new(env->procfs);
	s->red = red_new();
	s->detect = detect_new(env->config->slow_ms);
	s->explain = explain_new(env->procfs, env->sysfs);
	r = request_kernel_open(&s->kernel, &o, on_record, s, env->why);
	if (r < 0)
		return r;
	s->nginx = nginx_open(&(struct nginx_options){ .mode = env->config->nginx,
						       .ring_fd = request_kernel_ring(s->kernel),
						       .scope = o.scope,
						       .procfs = env->procfs,
						       .context = &s->context,
						       .done = on_request,
						       .arg = s });
	s->baseline_file = baseline_file_open(
		env->config->state, s->detect); /* last: nothing is saved if opening failed */
	return 0;
}

static void kernel_counts(struct request_source *s)
{
	uint64_t k[STAT_END], lost;

	request_kernel_stats(s->kernel, k);
	s->n[COVERAGE_UNKNOWN] = k[STAT_UNKNOWN];
	s->n[COVERAGE_USER_FAULT] = k[STAT_USER_FAULT];
	s->n[COVERAGE_RING_FULL] = k[STAT_RING_FULL];
	s->n[COVERAGE_CONN_FULL] = k[STAT_CONN_FULL];
	s->n[COVERAGE_CALLS_FULL] = k[STAT_CALLS_FULL];
	s->n[COVERAGE_LATE] = k[STAT_LATE];
	s->n[COVERAGE_CLIENT_FULL] = k[STAT_CLIENT_FULL];
	s->n[COVERAGE_URING] = k[STAT_URING];
	s->n[COVERAGE_BY_NAMES] = k[STAT_BY_NAMES];
	s->blocks_full = k[STAT_BLOCK_FULL];
	lost = k[STAT_RING_FULL] + k[STAT_CONN_FULL] + k[STAT_CALLS_FULL] + k[STAT_CLIENT_FULL];
	if (lost != s->lost)
		s->lossy_ns = clock_mono_ns();
	s->lost = lost;
}

static void send_coverage(struct request_source *s)
{
	double v[COVERAGE_END];
	struct sample_item i = {
		.layout = layout_coverage.layout, .entity = "", .n = COVERAGE_END, .v = v
	};

	const struct nginx_counts nginx = nginx_counts(s->nginx);

	s->n[COVERAGE_EVIDENCE_OUT] = explain_pushed_out(s->explain) + s->blocks_full;
	s->n[COVERAGE_NGINX_LOST] = nginx.lost;
	s->n[COVERAGE_NGINX_UNREAD] = nginx.unread;
	s->n[COVERAGE_RED_FULL] = red_overflow(s->red);
	s->n[COVERAGE_UNJUDGED] = red_unjudged(s->red);
	s->n[COVERAGE_STATE_REFUSED] = baseline_file_refused(s->baseline_file);
	s->n[COVERAGE_STATE_UNSAVED] = baseline_file_unsaved(s->baseline_file);
	for (size_t m = 0; m < COVERAGE_END; m++) {
		v[m] = (double)(s->n[m] - s->sent[m]);
		s->sent[m] = s->n[m];
	}
	sink_sample(s->out, &i);
}

static void send_counts(struct request_source *s)
{
	send_coverage(s);
	red_flush(s->red, s->out, s->tick++ % FLUSH_TICKS == 0);
	for (size_t i = 0; i < s->nunread; i++) {
		struct unread_item u = { s->unread[i].app, s->unread[i].kind, s->unread[i].count };

		sink_unread(s->out, &u);
	}
	s->nunread = 0;
}

/* A source that rests is woken by the next record. */
static bool may_rest(struct request_source *s, uint64_t now)
{
	bool quiet =
		now - s->busy_ns >= BUSY_NS && s->context.jiffy_ns && !explain_waits(s->explain);

	request_kernel_rest(s->kernel, quiet);
	return quiet;
}

static int request_read(void *self, struct sink *out)
{
	struct request_source *s = self;
	uint64_t now = clock_mono_ns();
	int r;

	s->out = out;
	s->now_ns = now;
	s->context.wall_minus_mono_ns = (int64_t)(clock_wall_ns() - now);
	if (now - s->second_ns >= 1000000000ull) {
		s->second_ns = now;
		s->rows_left = s->config->rows_per_s;
	}
	kernel_counts(s); /* first: the records below depend on what was lost */
	r = request_kernel_read(s->kernel, now, &s->context.jiffy_ns);
	if (r > 0)
		s->busy_ns = now;
	explain_step(s->explain, out);
	nginx_tick(s->nginx, now);
	if (now >= s->next_tick_ns) {
		s->next_tick_ns = clock_next(now, TICK_NS);
		send_counts(s);
		baseline_file_tick(s->baseline_file, now);
	}
	s->out = NULL;
	if (r < 0)
		return r;
	return may_rest(s, now) ? SOURCE_RESTS : 0;
}

static int request_wakes(void *self)
{
	const struct request_source *s = self;

	return request_kernel_ring(s->kernel);
}

static const struct wire_dict *const layouts[] = { &layout_coverage };

const struct source source_request = {
	.name = "request",
	.help = "HTTP/1 requests of every server: counted, and reported when slow or failed",
	.period_ms = 50,
	.rest_ms = 500,
	.size = sizeof(struct request_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = request_open,
	.read = request_read,
	.wakes = request_wakes,
	.close = request_close,
};

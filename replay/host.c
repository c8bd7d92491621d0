// SPDX-License-Identifier: Apache-2.0
#include "replay/host.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/log.h"
#include "probe/request/judge/detect.h"
#include "lib/uplink/keyring.h"
#include "probe/core/layout.h"
#include "probe/request/red/red_item.h"
#include "lib/uplink/uplink.h"
#include "probe/request/explain/verdict.h"
#include "replay/clock.h"

enum { MEMORY = 64 << 20, PORT = 80, CLIENT_PORT = 40000 };

#define PLACES_NS (600 * 1000000000ull)

struct host {
	struct host_config cfg;
	char keys[KEYS_PATH];
	struct detect *detect;
	struct red *red;
	struct sink sink;
	struct spool *spool;
	struct keyring keyring;
	struct uplink *uplink;
	uint64_t seen, rows, wall_ns, placed_ns;
};

static const struct wire_dict *const layouts[] = { &layout_coverage };

struct addr host_addr(uint32_t number, uint16_t port)
{
	uint32_t n = number + 1;
	uint8_t ip[4] = { 10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };

	return addr_make(ip, sizeof(ip), port);
}

static void seal(struct host *h, enum wire_stream stream, struct buf *body, uint64_t *rows)
{
	if (body->len)
		spool_append(h->spool, stream, h->wall_ns, (uint32_t)*rows, body->data, body->len);
	buf_reset(body);
	*rows = 0;
}

static void on_full(void *arg, enum wire_stream stream)
{
	struct host *h = arg;

	if (stream == STREAM_EVENT)
		seal(h, stream, &h->sink.event, &h->sink.requests);
	else
		seal(h, stream, &h->sink.metric, &h->sink.samples);
}

static void on_fresh(void *arg UNUSED)
{
}

static int open_uplink(struct host *h)
{
	const struct uplink_config cfg = { .node = h->cfg.name,
					   .machine = "",
					   .version = "replay",
					   .collectors = h->cfg.collectors,
					   .keys = &h->keyring,
					   .spool_mb = MEMORY >> 20,
					   .spool_where = "in memory",
					   .layouts = layouts,
					   .nlayouts = ARRAY_SIZE(layouts),
					   .spool = h->spool,
					   .loop = h->cfg.loop,
					   .on_fresh = on_fresh };

	return uplink_open(&h->uplink, &cfg);
}

int host_open(struct host **out, const struct host_config *cfg, char *why)
{
	struct host *h = calloc(1, sizeof(*h));
	struct keyring_config keys = { .dir = h ? h->keys : NULL,
				       .collector_key = cfg->collector_key,
				       .token = cfg->token };
	int r;

	if (!h)
		die("out of memory");
	h->cfg = *cfg;
	h->detect = detect_new(cfg->slow_ms);
	h->red = red_new();
	h->spool = spool_new(MEMORY);
	h->sink.on_full = on_full;
	h->sink.arg = h;
	snprintf(h->keys, sizeof(h->keys), "%s/%s", cfg->keys, cfg->name);
	r = keyring_open(&h->keyring, &keys, why, CSV_WHY);
	if (r == 0) {
		r = open_uplink(h);
		if (r < 0)
			snprintf(why, CSV_WHY, "cannot connect to the collector: %s", strerror(-r));
	}
	if (r < 0) {
		host_close(h);
		return r;
	}
	*out = h;
	return 0;
}

void host_close(struct host *h)
{
	if (!h)
		return;
	uplink_close(h->uplink);
	spool_free(h->spool);
	detect_free(h->detect);
	red_free(h->red);
	buf_free(&h->sink.event);
	buf_free(&h->sink.metric);
	free(h);
}

/*
 * All calls of a request are put into one: the duration of each is not always known, but the sum
 * is.
 */
static void put_up(struct request_item *r, struct addr upstream, uint64_t us)
{
	if (!us)
		return;
	r->nups = 1;
	r->ups[0] = (struct up_item){
		.addr = upstream, .response_us = us, .status = 200, .flags = UP_REUSED
	};
}

static void send_request(struct host *h, struct request_item *r, const struct judged *j)
{
	struct verdict_facts f = { .split = j->split,
				   .usual = j->usual,
				   .up_normal_us = j->up_normal_us,
				   .unwatched = true,
				   .no_clock = true };
	struct verdict_text text;

	verdict_find(r, &f, &text);
	verdict_check(r, &f);
	sink_request(&h->sink, r);
	h->rows++;
}

void host_request(struct host *h, const struct recording *r, const struct record *q,
		  struct addr client, struct addr upstream, uint64_t wall_ns)
{
	static const struct req_head none;
	const uint64_t us = (q->end_ns - q->start_ns) / 1000;
	struct request_item item = { .start_ns = wall_ns - us * 1000,
				     .app = h->cfg.name,
				     .comm = h->cfg.name,
				     .remote = client,
				     .local = host_addr(h->cfg.number, PORT),
				     .method = "",
				     .path = r->name[q->what],
				     .route = r->name[q->what],
				     .status = q->status,
				     .request_us = us,
				     .first_us = us };
	struct breakdown split;
	struct judged judged;
	bool abnormal;

	item.remote.port = CLIENT_PORT;
	put_up(&item, upstream, q->up_us < us ? q->up_us : us);
	if (!item.status)
		item.flags = REQUEST_NO_ANSWER;
	h->seen++;
	clock_hold(wall_ns);
	breakdown_of(&none, NULL, &item, &split);
	abnormal = detect_judge(h->detect, &item, &split, &judged);
	red_item_request(h->red, &item, NULL, UINT32_MAX,
			 wall_ns); /* its calls are recorded, too */
	if (abnormal)
		send_request(h, &item, &judged);
	clock_hold(0);
}

void host_call(struct host *h, const struct recording *r, const struct record *q,
	       struct addr callee, uint64_t wall_ns)
{
	const struct up_item u = { .addr = callee,
				   .response_us = (q->end_ns - q->start_ns) / 1000,
				   .status = q->status,
				   .flags = q->status ? UP_REUSED : UP_NO_ANSWER };

	red_item_call(h->red, h->cfg.name, r->name[q->what], &u, wall_ns);
}

void host_event(struct host *h, const struct recording *r, const struct record *q, uint64_t wall_ns)
{
	const uint64_t us = (q->end_ns - q->start_ns) / 1000;

	sink_event(&h->sink, &(struct event_item){ .start_ns = wall_ns - us * 1000,
						   .us = us,
						   .kind = r->name[q->what],
						   .severity = q->severity,
						   .comm = "" });
}

static void send_coverage(struct host *h)
{
	double v[COVERAGE_END] = {
		[COVERAGE_SEEN] = (double)h->seen, [COVERAGE_ROWS] = (double)h->rows
	};

	sink_sample(&h->sink, &(struct sample_item){ layout_coverage.layout, "", COVERAGE_END, v });
	h->seen = h->rows = 0;
}

/* Like a probe: at the start, and again from time to time. */
static void send_places(struct host *h)
{
	struct place places[] = {
		{ .kind = PLACE_ADDRESS, .addr = host_addr(h->cfg.number, 0), .app = "" },
		{ .kind = PLACE_LISTENER,
		  .addr = host_addr(h->cfg.number, PORT),
		  .app = h->cfg.name },
	};

	if (h->placed_ns && h->wall_ns - h->placed_ns < PLACES_NS)
		return;
	h->placed_ns = h->wall_ns;
	sink_place(&h->sink, &(struct place_item){
				     .whole = true, .n = ARRAY_SIZE(places), .places = places });
}

void host_tick(struct host *h, uint64_t wall_ns, bool all)
{
	h->wall_ns = wall_ns;
	send_places(h);
	send_coverage(h);
	red_flush(h->red, &h->sink, all);
	on_full(h, STREAM_EVENT);
	on_full(h, STREAM_METRIC);
	uplink_send(h->uplink);
}

void host_look(struct host *h)
{
	uplink_tick(h->uplink);
}

bool host_is_up(const struct host *h)
{
	return uplink_up(h->uplink);
}

uint32_t host_waiting(const struct host *h)
{
	return spool_batches(h->spool);
}

uint64_t host_lost(const struct host *h)
{
	return spool_lost(h->spool, STREAM_EVENT).batches +
	       spool_lost(h->spool, STREAM_METRIC).batches;
}

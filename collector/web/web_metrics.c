// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_metrics.h"

#include "collector/core/counters.h"
#include "collector/web/call/web_call.h"

static void put_metric(struct buf *b, const char *name, const char *type, unsigned long long v)
{
	web_put(b, "# TYPE %s %s\n%s %llu\n", name, type, name, v);
}

static void put_refused(struct web_seats *s, struct buf *b)
{
	web_put(b, "# TYPE seismo_web_refused_total counter\n");
	for (int why = WEB_ADMITTED + 1; why < WEB_REFUSALS; why++)
		web_put(b, "seismo_web_refused_total{why=\"%s\"} %llu\n", web_refusal_name(why),
			(unsigned long long)web_seats_refused(s, why));
}

void web_metrics_text(struct web_http *h, struct buf *out)
{
	struct web_hub_stats s = web_hub_stats(h->hub);

	counters_text(out);
	put_metric(out, "seismo_web_requests_total", "counter", atomic_load(&h->requests));
	put_metric(out, "seismo_web_errors_total", "counter", atomic_load(&h->unavailable));
	put_refused(h->seats, out);
	put_metric(out, "seismo_web_connections", "gauge", web_seats_taken(h->seats));
	put_metric(out, "seismo_web_streams", "gauge", s.clients);
	put_metric(out, "seismo_web_events_total", "counter", s.published);
	put_metric(out, "seismo_web_events_skipped_total", "counter", s.skipped);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/core/sink.h"

static void event_put(struct sink *s)
{
	if (s->event.len >= SINK_FULL && s->on_full)
		s->on_full(s->arg, STREAM_EVENT);
}

static void metric_put(struct sink *s)
{
	s->samples++;
	if (s->metric.len >= SINK_FULL && s->on_full)
		s->on_full(s->arg, STREAM_METRIC);
}

void sink_sample(struct sink *s, const struct sample_item *i)
{
	wire_put_sample(&s->metric, i);
	metric_put(s);
}

void sink_red(struct sink *s, const struct red_item *i)
{
	wire_put_red(&s->metric, i);
	metric_put(s);
}

void sink_unread(struct sink *s, const struct unread_item *i)
{
	wire_put_unread(&s->metric, i);
	metric_put(s);
}

void sink_profile(struct sink *s, const struct profile_item *i)
{
	wire_put_profile(&s->metric, i);
	metric_put(s);
}

void sink_request(struct sink *s, const struct request_item *i)
{
	wire_put_request(&s->event, i);
	s->requests++;
	event_put(s);
}

void sink_source(struct sink *s, const struct source_item *i)
{
	wire_put_source(&s->event, i);
	event_put(s);
}

void sink_stack(struct sink *s, const struct stack_item *i)
{
	wire_put_stack(&s->event, i);
	event_put(s);
}

void sink_event(struct sink *s, const struct event_item *i)
{
	wire_put_event(&s->event, i);
	event_put(s);
}

void sink_place(struct sink *s, const struct place_item *i)
{
	wire_put_place(&s->event, i);
	event_put(s);
}

void sink_nat(struct sink *s, const struct nat_item *i)
{
	wire_put_nat(&s->event, i);
	event_put(s);
}

void sink_clock(struct sink *s, const struct clock_item *i)
{
	wire_put_clock(&s->event, i);
	event_put(s);
}

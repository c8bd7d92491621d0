// SPDX-License-Identifier: Apache-2.0
/*
 * sink.h - encodes the items that sources emit, into one body per stream.
 *
 * main seals the bodies into batches and appends them to the spool. Items are copied: a source may
 * free its strings as soon as a call returns. A body that exceeds SINK_FULL goes to on_full at
 * once, so that no batch outgrows a frame, whatever the number of items in one read.
 */
#pragma once

#include "lib/wire/wire.h"

enum { SINK_FULL = WIRE_MAX_FRAME / 4 };

struct sink {
	struct buf event, metric; /* bodies under construction */
	uint64_t requests; /* rows in event */
	uint64_t samples; /* items in metric */
	void (*on_full)(void *arg, enum wire_stream stream); /* takes the body and empties it */
	void *arg;
};

void sink_sample(struct sink *s, const struct sample_item *i); /* metric */
void sink_red(struct sink *s, const struct red_item *i); /* metric */
void sink_unread(struct sink *s, const struct unread_item *i); /* metric */
void sink_profile(struct sink *s, const struct profile_item *i); /* metric */
void sink_request(struct sink *s, const struct request_item *i); /* event */
void sink_source(struct sink *s, const struct source_item *i); /* event */
void sink_stack(struct sink *s, const struct stack_item *i); /* event */
void sink_event(struct sink *s, const struct event_item *i); /* event */
void sink_place(struct sink *s, const struct place_item *i); /* event */
void sink_nat(struct sink *s, const struct nat_item *i); /* event */
void sink_clock(struct sink *s, const struct clock_item *i); /* event */

// SPDX-License-Identifier: Apache-2.0
/*
 * score_node.h - recent data of one node, in spans that expire one by one.
 *
 * Holds samples of the last minute, and requests and events of the last five. Spans go by time
 * of arrival: data that comes late is only in the tables.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/score/node_score.h"

enum { SCORE_SPANS = 6 }; /* of 10 s for samples, of a minute for requests and events */

struct score_wanted { /* the positions of the scored metrics in a layout's values */
	bool known, any;
	int16_t place[SCORED_END]; /* -1: not in the layout */
};

struct score_span {
	uint64_t number; /* of the time span it covers */
	double sum[SCORED_END];
	uint32_t n[SCORED_END];
};

struct score_busy {
	uint64_t number;
	double busy_s, weighted_s;
};

struct score_node {
	uint64_t heard_ns; /* mono; 0: never */
	bool changed; /* since the last write */
	struct score_span span[SCORE_SPANS];
	struct {
		char name[SCORE_NAME];
		struct score_busy span[SCORE_SPANS];
	} disk[SCORE_DISKS];
	struct {
		char name[SCORE_NAME]; /* "": the node itself */
		struct {
			uint64_t number;
			struct node_score_requests of;
		} span[SCORE_SPANS];
	} app[SCORE_APPS + 1];
	struct {
		char kind[SCORE_NAME];
		bool critical;
		uint64_t number, n; /* number: the last span with such an event */
	} event[SCORE_EVENTS];
};

void score_node_sample(struct score_node *n, const struct score_wanted *w,
		       const struct sample_item *s, uint64_t now_ns);
void score_node_red(struct score_node *n, const struct red_item *q, uint64_t now_ns);
void score_node_event(struct score_node *n, const struct event_item *e, uint64_t now_ns);
void score_node_facts(const struct score_node *n, uint64_t now_ns, struct node_score_facts *f);

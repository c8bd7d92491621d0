// SPDX-License-Identifier: Apache-2.0
/*
 * engine_state.h - which of the collector's engines is behind, since when and why.
 *
 * An engine is a thread, or a part of one, that works on stored rows. It is behind from its first
 * failure on until it has done all its work once. Any thread may call these at any time.
 */
#pragma once

#include "lib/base/base.h"

enum engine_name {
	ENGINE_INCIDENTS, /* incident/engine: correlates and ranks */
	ENGINE_ARCHIVE, /* archive/compact.h: compacts finished hours, and sends minutes early */
	ENGINE_TOPOLOGY, /* archive/red_roll.h: rolls up RED */
	ENGINE_SCORES, /* score/score_publish.h */
	ENGINE_RELAY, /* relay/relay.h */
	ENGINES,
};

enum { ENGINE_WHY = 200 };

struct engine_state {
	const char *name;
	uint64_t since_s; /* Unix time since which it is behind; 0: it is not */
	uint64_t skipped; /* rows that it could not apply, since the collector started */
	char why[ENGINE_WHY]; /* "" unless it is behind */
};

const char *engine_name(enum engine_name e);
void engine_well(enum engine_name e);
void engine_failed(enum engine_name e, const char *why); /* why: any bytes */
void engine_skipped(enum engine_name e, uint64_t rows);
void engine_read(enum engine_name e, struct engine_state *out);

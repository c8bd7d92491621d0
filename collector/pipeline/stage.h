// SPDX-License-Identifier: Apache-2.0
/*
 * stage.h - one stage of the pipeline.
 *
 * A stage reads a batch, adds to it, and returns. It does not know its neighbours: only the two
 * tables in main.c and writer.c set the order. A stage that finds a batch which can never be stored
 * sets batch.malformed to the reason.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/core/counters.h"

struct stage_env {
	struct layouts *layouts; /* of the loop's thread */
	const char *region; /* the collector's own */
};

enum { STAGE_NEXT = 0, STAGE_DONE = 1 };

struct stage {
	const char *name;
	size_t size; /* of the private state */
	enum counter in, failed, ns;

	int (*open)(void *self, const struct stage_env *env); /* may be NULL */
	int (*run)(void *self, struct batch *b); /* STAGE_NEXT, STAGE_DONE, -errno */
	void (*close)(void *self); /* may be NULL; also after a failed open */
};

#define STAGE_COUNTERS(NAME) .in = C_##NAME##_IN, .failed = C_##NAME##_FAILED, .ns = C_##NAME##_NS

extern const struct stage stage_decode, stage_origin, stage_limit, stage_enrich, stage_store;

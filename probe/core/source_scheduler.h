// SPDX-License-Identifier: Apache-2.0
/*
 * source_scheduler.h - schedules the reads: each source on its own period; a resting source on its
 * longer one, or as soon as its descriptor is readable; one whose read goes on, soon. Sources due
 * at about the same time are read in one wakeup (loop.h).
 */
#pragma once

#include "lib/daemon/loop.h"
#include "probe/core/source.h"

struct source_scheduler;

typedef enum source_pace source_read(void *arg, size_t source);

struct source_scheduler *source_scheduler_begin(struct loop *l, source_read *read, void *arg);
/* wakes: a descriptor that is readable when the source has data, or -1. */
void source_scheduler_add(struct source_scheduler *r, size_t source, const struct source *s,
			  int wakes);
/* Only after the loop has stopped; NULL is fine. */
void source_scheduler_free(struct source_scheduler *r);

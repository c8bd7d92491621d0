// SPDX-License-Identifier: Apache-2.0
/*
 * source_scheduler.h - when each source is read: on its own period, and while it rests, rarer, or as soon as
 * its descriptor says that there is something. Two that are due at about the same time are read in
 * one go (loop.h).
 */
#pragma once

#include "lib/daemon/loop.h"
#include "probe/core/source.h"

struct source_scheduler;

/* read: reads that source, and says whether it rests now. */
struct source_scheduler *source_scheduler_begin(struct loop *l, bool (*read)(void *arg, size_t source), void *arg);
/* wakes: a descriptor that is readable when there is something, or -1. */
void source_scheduler_add(struct source_scheduler *r, size_t source, const struct source *s, int wakes);
void source_scheduler_free(struct source_scheduler *r); /* NULL is fine; the loop must not run any more */

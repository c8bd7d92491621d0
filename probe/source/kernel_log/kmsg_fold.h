// SPDX-License-Identifier: Apache-2.0
/*
 * kmsg_fold.h - lines of the kernel log as events, without a flood. No system calls.
 *
 * Repeats of one reason and device are one event. It is reported when it begins, while lines come
 * (at the intervals of ongoing_event.h), and after a minute without lines. Per reason,
 * FOLD_PER_MINUTE events may begin in a minute; lines beyond that, or beyond FOLD_EVENTS, are only
 * counted.
 */
#pragma once

#include "probe/source/kernel_log/kmsg_line.h"
#include "probe/core/sink.h"

enum { FOLD_EVENTS = 24, FOLD_PER_MINUTE = 6, FOLD_QUIET_S = 60 };

struct kmsg_fold;

struct kmsg_fold *kmsg_fold_new(void);
void kmsg_fold_free(struct kmsg_fold *f);

/* wall_ns: when the line was logged. */
void kmsg_fold_line(struct kmsg_fold *f, const struct kmsg_line *l, const struct kmsg_found *found,
		    uint64_t now_ns, uint64_t wall_ns);
/* Sends the events that are due. */
void kmsg_fold_send_due(struct kmsg_fold *f, uint64_t now_ns, struct sink *out);

uint64_t kmsg_fold_withheld(const struct kmsg_fold *f); /* lines without an event */

DEFINE_AUTO(struct kmsg_fold *, kmsg_fold_free)

// SPDX-License-Identifier: Apache-2.0
/*
 * kmsg_fold.h - lines of the kernel's log as events, without a flood. No system calls.
 *
 * Repeats of one reason and device are one event, which is told when it begins, again by ongoing_event.h
 * as long as lines come, and when none has come for a minute. Of each reason so many events may
 * begin in a minute; what is more, or finds no room, is only counted.
 */
#pragma once

#include "probe/source/kernel_log/kmsg_line.h"
#include "probe/core/sink.h"

enum { FOLD_EVENTS = 24, FOLD_PER_MINUTE = 6, FOLD_QUIET_S = 60 };

struct kmsg_fold;

struct kmsg_fold *kmsg_fold_new(void);
void kmsg_fold_free(struct kmsg_fold *f);

/* wall_ns: when the line came. */
void kmsg_fold_line(struct kmsg_fold *f, const struct kmsg_line *l, const struct kmsg_found *found,
		    uint64_t now_ns, uint64_t wall_ns);
/* Tells what is to be told now. */
void kmsg_fold_tell(struct kmsg_fold *f, uint64_t now_ns, struct sink *out);

uint64_t kmsg_fold_withheld(const struct kmsg_fold *f); /* lines of no event */

DEFINE_AUTO(struct kmsg_fold *, kmsg_fold_free)

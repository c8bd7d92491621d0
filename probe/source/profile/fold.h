// SPDX-License-Identifier: Apache-2.0
/*
 * fold.h - identifies stacks by their functions: two stacks through the same functions are one,
 * regardless of the offsets. Returns the final id if all functions are known (function_cache.h),
 * else a pending id, which is replaced later.
 *
 * Lookups are bounded: kernel symbols once a minute, twice if many stacks are pending, as a pass
 * takes some 50 ms; files by bytes per second. Frequent stacks go first. A stack that finds no room
 * is reported as far as its functions are known, plus the file of the next frame. Frames are sent
 * as STACK items, without offsets.
 */
#pragma once

#include <linux/types.h>

#include "bpf/sched/oncpu.h"
#include "probe/core/sink.h"

enum { FOLD_KERNEL = 64, FOLD_USER = 40 /* limits of pending stacks */ };

struct fold;

/* named: a pending id was replaced by another. */
struct fold *fold_new(const char *procfs, void (*named)(void *arg, uint64_t was, uint64_t is),
		      void *arg);
void fold_free(struct fold *f);

/* Sets the sink for stacks, and the time, until the next call. */
void fold_at(struct fold *f, struct sink *out, uint64_t now_ns);

/* 0: no frames, or none that is known. Pending ids have STACK_PENDING set (profile_window.h). */
uint64_t fold_kernel(struct fold *f, const __u64 *frame, uint32_t n);
uint64_t fold_user(struct fold *f, uint32_t tgid, const struct req_frame *frame, uint32_t n);

void fold_step(struct fold *f); /* does a little of the work */

uint64_t fold_unknown(const struct fold *f); /* stacks sent before they were fully looked up */

DEFINE_AUTO(struct fold *, fold_free)

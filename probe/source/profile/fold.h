// SPDX-License-Identifier: Apache-2.0
/*
 * fold.h - stacks by their functions: two that went through the same functions are one, wherever in
 * them they were. An id at once where all functions are known (function_cache.h); else one that waits,
 * and later the id that takes its place.
 *
 * What is looked up is bounded: kernel symbols once a minute, twice where many wait, as a pass over
 * them takes some 50 ms; files by so many bytes a second. Who was seen most goes first; who finds
 * no room is known as far as its functions are, and by the file of the next one. Frames are told as
 * STACK items, without offsets.
 */
#pragma once

#include <linux/types.h>

#include "bpf/sched/oncpu.h"
#include "probe/core/sink.h"

enum { FOLD_KERNEL = 64, FOLD_USER = 40 /* stacks that may wait */ };

struct fold;

/* named: an id that waited has become another. */
struct fold *fold_new(const char *procfs, void (*named)(void *arg, uint64_t was, uint64_t is),
		      void *arg);
void fold_free(struct fold *f);

/* Where stacks are told, and the time, until the next call. */
void fold_at(struct fold *f, struct sink *out, uint64_t now_ns);

/* 0: it has no frames, or none that is known; profile_window.h says how to tell an id that waits. */
uint64_t fold_kernel(struct fold *f, const __u64 *frame, uint32_t n);
uint64_t fold_user(struct fold *f, uint32_t tgid, const struct req_frame *frame, uint32_t n);

void fold_step(struct fold *f); /* a little of the work */

uint64_t fold_unknown(const struct fold *f); /* stacks that nobody had time to look up as a whole */

DEFINE_AUTO(struct fold *, fold_free)

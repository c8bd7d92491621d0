// SPDX-License-Identifier: Apache-2.0
/*
 * profile_window.h - counts the samples of a minute by app and pair of stacks, and sends them as
 * PROFILE items.
 *
 * Bounded: pairs beyond WINDOW_PAIRS are counted without their stacks, apps beyond WINDOW_APPS as
 * "(others)". An entry with a pending stack is sent once it has its id.
 */
#pragma once

#include "probe/core/sink.h"

enum { WINDOW_PAIRS = 1024, WINDOW_APPS = 128 };

#define STACK_PENDING (1ull << 63) /* flag of an id that profile_window_named will replace */

struct profile_window;

struct profile_window *profile_window_new(void);
void profile_window_free(struct profile_window *m);

/* n: samples; stack id 0: no stack, or none that is known. */
void profile_window_add(struct profile_window *m, const char *app, uint64_t kernel, uint64_t user,
			uint32_t n);
void profile_window_named(struct profile_window *m, uint64_t was, uint64_t is);

/* Sends entries whose stacks have ids: all, or only those of apps that are new. */
void profile_window_send(struct profile_window *m, uint64_t start_ns, uint32_t period_us, bool all,
			 struct sink *out);

uint64_t
profile_window_over(const struct profile_window *m); /* samples counted without their stacks */

DEFINE_AUTO(struct profile_window *, profile_window_free)

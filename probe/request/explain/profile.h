// SPDX-License-Identifier: Apache-2.0
/*
 * profile.h - stack samples of threads while they worked on a request, stored until the request
 * turns out abnormal.
 *
 * Bounded: the oldest sample is dropped first. Stacks that differ only in where the innermost
 * function was interrupted are one stack.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/base/base.h"

enum {
	PROFILE_STACKS = 512,
	PROFILE_SAMPLES = 8192,
	PROFILE_FOUND = 3, /* stacks reported per request */
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *p);
void profile_push(struct profile *p, const struct req_stack *s);

struct profile_found {
	const struct req_stack *stack; /* the first of its kind; valid until the next push */
	uint32_t samples, all; /* of this stack; of all stacks of the request */
	uint64_t first_ns; /* when the request was first sampled in this stack, */
	uint32_t tid; /* and in which thread */
};

/* Fills the most frequent stacks of a request, most frequent first; returns their number. */
uint32_t profile_find(const struct profile *p, uint64_t id, uint64_t from_ns, uint64_t to_ns,
		      struct profile_found out[static PROFILE_FOUND]);

DEFINE_AUTO(struct profile *, profile_free)

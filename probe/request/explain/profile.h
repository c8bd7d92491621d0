// SPDX-License-Identifier: Apache-2.0
/*
 * profile.h - what threads were doing while they worked on a request, by samples of their stacks;
 * kept until the request turns out abnormal.
 *
 * Bounded: the oldest goes first. Stacks that differ in nothing but where the innermost function
 * was interrupted are one.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/base/base.h"

enum {
	PROFILE_STACKS = 512,
	PROFILE_SAMPLES = 8192,
	PROFILE_FOUND = 3, /* the most that is told of one request */
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *p);
void profile_push(struct profile *p, const struct req_stack *s);

struct profile_found {
	const struct req_stack *stack; /* the first of its kind; valid until the next push */
	uint32_t samples, all; /* of it; of all stacks of the request */
	uint64_t first_ns; /* when the request was first seen there, */
	uint32_t tid; /* in which thread */
};

/* Those a request was seen in most often, the first one first; how many. */
uint32_t profile_find(const struct profile *p, uint64_t id, uint64_t from_ns, uint64_t to_ns,
		      struct profile_found out[static PROFILE_FOUND]);

DEFINE_AUTO(struct profile *, profile_free)

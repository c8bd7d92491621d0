// SPDX-License-Identifier: Apache-2.0
/*
 * switch_chain.h - two programs at each switch of the scheduler, with one way there and back: the
 * first, of files, ends in a jump (bpf_tail_call()) to the second, of request. What the kernel
 * counts of the first then holds the second, so they part while it counts (meter.h).
 *
 * While they join or part both ways are open for a moment, and the second is run twice for one
 * switch, which it does not mind; never not at all.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

struct switch_chain {
	struct bpf_map *jump; /* of the first: it goes on with the program in there */
	struct bpf_program *second;
	struct bpf_link **own; /* the second's own way there: *own is NULL while they are joined */
	bool is_joined, is_refused; /* is_refused: the kernel did not let them, which was said */
};

/* All may be called without a chain (NULL), or with half of one: then nothing is to be done. */
void switch_chain_first(struct switch_chain *c, struct bpf_map *jump);
void switch_chain_second(struct switch_chain *c, struct bpf_program *second, struct bpf_link **own);
void switch_chain_join(struct switch_chain *c);
void switch_chain_part(struct switch_chain *c);
void switch_chain_end(struct switch_chain *c); /* before one of the two is closed; parts them */

// SPDX-License-Identifier: Apache-2.0
/*
 * switch_chain.h - runs two programs at each context switch through one hook: the first, of source
 * files, ends in a jump (bpf_tail_call()) to the second, of source request. The kernel then counts
 * the time of the second for the first, so the chain is parted while the kernel counts (meter.h).
 *
 * While the chain joins or parts, both hooks are active for a moment and the second program may run
 * twice for one switch, which is harmless. It never misses a switch.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

struct switch_chain {
	struct bpf_map *jump; /* holds the program that the first jumps to */
	struct bpf_program *second;
	struct bpf_link **own; /* the own hook of the second: *own is NULL while joined */
	bool is_joined, is_refused; /* is_refused: the kernel refused, and it was logged */
};

/* All calls do nothing if the chain is NULL or incomplete. */
void switch_chain_first(struct switch_chain *c, struct bpf_map *jump);
void switch_chain_second(struct switch_chain *c, struct bpf_program *second, struct bpf_link **own);
void switch_chain_join(struct switch_chain *c);
void switch_chain_part(struct switch_chain *c);
void switch_chain_end(struct switch_chain *c); /* parts them; before one of the two is closed */

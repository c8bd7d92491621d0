// SPDX-License-Identifier: Apache-2.0
/*
 * generate.h - a random direction of a connection by its seed: requests, or answers, and where each
 * begins and ends, which is known because they are written here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENERATE_BYTES = 65536, GENERATE_MESSAGES = 8 };

struct generated_message {
	size_t begin, end;
	int status; /* of an answer */
	bool named_p; /* its method begins like a PROXY head */
};

struct generated {
	bool answers;
	char b[GENERATE_BYTES];
	size_t n;
	struct generated_message m[GENERATE_MESSAGES]; /* without interim answers */
	unsigned nm;
	uint64_t state; /* of the random numbers */
};

void generate(struct generated *g, uint64_t seed);
uint32_t generate_below(struct generated *g, uint32_t n); /* the next random number, 0 to n - 1 */

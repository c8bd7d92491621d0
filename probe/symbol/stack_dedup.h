// SPDX-License-Identifier: Apache-2.0
/*
 * stack_dedup.h - the ids of stacks already sent to the collector. Each is sent once, and once more
 * if it is still in use after an hour.
 *
 * The table is bounded: the id sent longest ago is replaced, and sent again when it returns. Ids
 * are salted with the boot id, because addresses are meaningless after a reboot.
 */
#pragma once

#include "lib/base/base.h"

enum { DEDUP_STACKS = 1024 };
#define DEDUP_RESEND_NS (3600 * 1000000000ull)

struct stack_dedup {
	uint64_t salt;
	struct stack_dedup_one {
		uint64_t id, ns;
	} one[DEDUP_STACKS];
};

void stack_dedup_open(struct stack_dedup *t, const char *procfs);
uint64_t stack_dedup_id(const struct stack_dedup *t, const void *frames, size_t len);
bool stack_dedup_is_known(const struct stack_dedup *t, uint64_t id, uint64_t now_ns);
void stack_dedup_add(struct stack_dedup *t, uint64_t id, uint64_t now_ns); /* before it is sent */

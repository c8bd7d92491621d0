// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/stack_dedup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "lib/base/hash.h"

enum { PROBES = 8, BOOT_ID = 36 };

void stack_dedup_open(struct stack_dedup *t, const char *procfs)
{
	char path[PATH_MAX], id[BOOT_ID] = { 0 };
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", procfs);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, id, sizeof(id));
	*t = (struct stack_dedup){ .salt = hash_add(HASH_START, id, n > 0 ? (size_t)n : 0) };
}

uint64_t stack_dedup_id(const struct stack_dedup *t, const void *frames, size_t len)
{
	return hash_end(hash_add(t->salt, frames, len));
}

/* The slot of the id, or that of the id sent longest ago among its PROBES slots. */
static size_t place_of(const struct stack_dedup *t, uint64_t id)
{
	size_t oldest = id % DEDUP_STACKS;

	for (size_t i = 0; i < PROBES; i++) {
		size_t place = (id + i) % DEDUP_STACKS;

		if (t->one[place].id == id)
			return place;
		if (t->one[place].ns < t->one[oldest].ns)
			oldest = place;
	}
	return oldest;
}

bool stack_dedup_is_known(const struct stack_dedup *t, uint64_t id, uint64_t now_ns)
{
	const struct stack_dedup_one *o = &t->one[place_of(t, id)];

	return o->id == id && now_ns - o->ns < DEDUP_RESEND_NS;
}

void stack_dedup_add(struct stack_dedup *t, uint64_t id, uint64_t now_ns)
{
	t->one[place_of(t, id)] = (struct stack_dedup_one){ id, now_ns };
}

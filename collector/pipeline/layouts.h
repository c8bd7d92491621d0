// SPDX-License-Identifier: Apache-2.0
/*
 * layouts.h - the layouts that probes announced. Only one thread adds and finds.
 *
 * A layout's id is the hash of its content, so a layout never changes. A pointer to one may be
 * passed to any thread and is valid until layouts_free.
 */
#pragma once

#include "lib/wire/wire.h"

struct layouts;

struct layout {
	uint64_t id;
	const char *kind; /* of the entities it describes */
	uint32_t n;
	const struct wire_metric *metrics;
};

struct layouts *layouts_new(void);
void layouts_free(struct layouts *l); /* NULL is fine */

const struct layout *layouts_find(const struct layouts *l, uint64_t id); /* NULL: unknown */
int layouts_add(struct layouts *l, const struct wire_dict *d) MUST_CHECK; /* -ENOSPC: too many */

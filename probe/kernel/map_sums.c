// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/map_sums.h"

#include <bpf/libbpf.h>

#include "lib/base/log.h"

static void read_one(const struct map_sums *m, const unsigned char *key, void *value)
{
	const size_t nkey = m->sums->nkey;
	const bool held = m->others && memcmp(key, m->others, nkey) == 0;
	char name[ITEM_MAX_TEXT];

	if (bpf_map__lookup_elem(m->map, key, nkey, value, bpf_map__value_size(m->map), 0) < 0)
		return;
	if (!sums_knows(m->sums, key) && !m->name(m->arg, key, value, name))
		return;
	if (!sums_seen(m->sums, key, name, value, held))
		bpf_map__delete_elem(m->map, key, nkey, 0);
}

void map_sums_read(const struct map_sums *m)
{
	const size_t nkey = m->sums->nkey;
	AUTO_FREE void *value = malloc(bpf_map__value_size(m->map));
	unsigned char next[SUMS_KEY], key[SUMS_KEY];
	bool more = bpf_map__get_next_key(m->map, NULL, next, nkey) == 0;

	if (!value)
		die("out of memory");
	/* A key deleted meanwhile restarts the walk, so the number of steps is bounded. */
	for (uint32_t i = 0; more && i < 2 * bpf_map__max_entries(m->map); i++) {
		memcpy(key, next, nkey);
		more = bpf_map__get_next_key(m->map, key, next, nkey) == 0;
		read_one(m, key, value);
	}
}

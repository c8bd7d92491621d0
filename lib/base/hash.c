// SPDX-License-Identifier: Apache-2.0
#include "lib/base/hash.h"

uint64_t hash_add(uint64_t h, const void *p, size_t len)
{
	const unsigned char *s = p;

	for (size_t i = 0; i < len; i++)
		h = (h ^ s[i]) * 0x100000001b3u;
	return h;
}

uint64_t hash_add_str(uint64_t h, const char *s)
{
	return hash_add(h, s, strlen(s) + 1);
}

uint64_t hash_end(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53u;
	h ^= h >> 33;
	h &= INT64_MAX;
	return h ? h : 1;
}

uint64_t hash_node_id(const char *node)
{
	return hash_end(hash_add_str(hash_add_str(HASH_START, "node"), node));
}

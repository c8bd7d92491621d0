// SPDX-License-Identifier: Apache-2.0
/*
 * hash.h - ids computed from content: equal on every node and in every region.
 *
 * FNV-1a, 64 bit, then mixed (the finalizer of MurmurHash3) and cut to 63 bits, because
 * PostgreSQL's bigint is signed. Never 0. The values are stored in databases: do not change them.
 */
#pragma once

#include "lib/base/base.h"

#define HASH_START 0xcbf29ce484222325u

uint64_t hash_add(uint64_t h, const void *p, size_t len);
uint64_t hash_add_str(uint64_t h,
		      const char *s); /* the string and its end, so "a","b" is not "ab" */
uint64_t hash_end(uint64_t h);

uint64_t hash_node_id(const char *node); /* the id of a node, from its name */

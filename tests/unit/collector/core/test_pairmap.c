// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/core/pairmap.h"

enum { MANY = 5000 };

static bool is_even(void *arg, uint64_t a, uint64_t b UNUSED, void *value)
{
	*(uint64_t *)arg += *(uint64_t *)value;
	return a % 2 == 0;
}

TEST(an_added_value_is_found_and_keeps_its_address)
{
	struct pairmap *m = pairmap_new(sizeof(uint64_t));
	uint64_t *first = pairmap_add(m, 1, 2);

	CHECK_EQ(*first, 0);
	*first = 42;
	for (uint64_t i = 10; i < MANY; i++)
		pairmap_add(m, i, i * i);
	CHECK(pairmap_find(m, 1, 2) == first);
	CHECK(pairmap_add(m, 1, 2) == first);
	CHECK_EQ(*first, 42);
	CHECK(!pairmap_find(m, 2, 1));
	CHECK_EQ(pairmap_count(m), MANY - 10 + 1);
	pairmap_free(m);
}

TEST(each_visits_every_value_once_and_removes_rejected_ones)
{
	struct pairmap *m = pairmap_new(sizeof(uint64_t));
	uint64_t sum = 0;

	for (uint64_t i = 0; i < MANY; i++)
		*(uint64_t *)pairmap_add(m, i, 7) = i;
	pairmap_each(m, is_even, &sum);
	CHECK_EQ(sum, (uint64_t)MANY * (MANY - 1) / 2);
	CHECK_EQ(pairmap_count(m), MANY / 2);
	CHECK(pairmap_find(m, 4, 7));
	CHECK(!pairmap_find(m, 5, 7));
	pairmap_forget(m);
	CHECK_EQ(pairmap_count(m), 0);
	CHECK(!pairmap_find(m, 4, 7));
	pairmap_free(m);
}

TEST(freeing_no_map_is_harmless)
{
	pairmap_free(NULL);
}

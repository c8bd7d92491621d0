// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "bpf/lib/slot.h"
#include "tests/lib/test.h"

enum { SLOTS = 21 };

/* As it is said in slot.h, by counting. */
static uint32_t naive(uint64_t v, uint32_t first)
{
	uint32_t n = 0;

	while (n < SLOTS - 1 && v > UINT64_C(1) << (first + n))
		n++;
	return n;
}

TEST(an_upper_edge_belongs_to_its_slot_and_the_last_has_none)
{
	CHECK_EQ(slot_of(0, 9, SLOTS), 0);
	CHECK_EQ(slot_of(512, 9, SLOTS), 0);
	CHECK_EQ(slot_of(513, 9, SLOTS), 1);
	CHECK_EQ(slot_of(4096, 9, SLOTS), 3);
	CHECK_EQ(slot_of(4097, 9, SLOTS), 4);
	CHECK_EQ(slot_of(UINT64_MAX, 9, SLOTS), SLOTS - 1);
	CHECK_EQ(slot_of(UINT64_MAX, 0, SLOTS), SLOTS - 1);
}

TEST(a_slot_is_found_on_both_sides_of_every_power_of_two)
{
	for (uint32_t first = 0; first < 16; first++) {
		for (uint32_t i = 0; i < 63; i++) {
			uint64_t edge = UINT64_C(1) << i;

			for (uint64_t v = edge - 1; v <= edge + 1; v++)
				CHECK_EQ(slot_of(v, first, SLOTS), naive(v, first));
		}
	}
}

TEST(what_is_found_without_a_branch_is_what_is_counted)
{
	for (uint64_t v = 0; v < 70000; v++)
		CHECK_EQ(slot_of(v, 4, SLOTS), naive(v, 4));
}

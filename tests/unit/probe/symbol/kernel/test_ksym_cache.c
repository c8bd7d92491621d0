// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/symbol/kernel/ksym_cache.h"
#include "probe/symbol/kernel/ksym_range.h"
#include "tests/lib/test.h"

static char dir[] = "/tmp/seismo-names.XXXXXX";

static void kallsyms(const char *text)
{
	char path[64];
	FILE *f;

	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	f = fopen(path, "we");
	CHECK(f && fputs(text, f) >= 0);
	fclose(f);
}

static void gone(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	remove(path);
	rmdir(dir);
}

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000100 t first\n"
			      "ffffffff81000200 T alias\n"
			      "ffffffff81000200 T second\n"
			      "ffffffff81000300 T third\n"
			      "ffffffffc0000100 t other\t[mod]\n";

static const char *until_known(struct ksym_cache *n, uint64_t addr)
{
	const char *name = ksym_cache_of(n, addr);

	for (int i = 0; i < 20 && !name; i++) {
		ksym_cache_step(n);
		name = ksym_cache_of(n, addr);
	}
	return name ? name : "(never)";
}

TEST(a_function_has_its_name_after_some_reads_and_keeps_it)
{
	struct ksym_cache *n;

	kallsyms(symbols);
	n = ksym_cache_new(dir);
	CHECK(!ksym_cache_of(n, 0xffffffff81000100));
	CHECK_STR(until_known(n, 0xffffffff81000100), "first");
	gone(); /* no further lookup */
	CHECK_STR(ksym_cache_of(n, 0xffffffff81000100), "first");
	ksym_cache_free(n);
}

TEST(two_functions_looked_up_at_different_times_have_their_own_names)
{
	struct ksym_cache *n;

	kallsyms(symbols);
	n = ksym_cache_new(dir);
	CHECK_STR(until_known(n, 0xffffffff81000310), "third");
	CHECK_STR(until_known(n, 0xffffffff81000110), "first");
	CHECK_STR(ksym_cache_of(n, 0xffffffff81000310), "third");
	CHECK_STR(until_known(n, 0x1000), "?");
	ksym_cache_free(n);
	gone();
}

TEST(without_visible_addresses_no_name_is_known)
{
	struct ksym_cache *n = ksym_cache_new("/nonexistent");

	CHECK_STR(until_known(n, 0xffffffff81000100), "?");
	ksym_cache_free(n);
}

TEST(a_range_goes_to_the_next_symbol_that_lies_above)
{
	struct ksym_range r[] = {
		{ .name = "second" }, { .name = "first" }, { .name = "none" }, { .name = "other" }
	};

	kallsyms(symbols);
	CHECK_EQ(ksym_ranges(dir, r, ARRAY_SIZE(r)), 2);
	CHECK_EQ(r[0].from, 0xffffffff81000200);
	CHECK_EQ(r[0].to, 0xffffffff81000300);
	CHECK_EQ(r[1].from, 0xffffffff81000100);
	CHECK_EQ(r[1].to, 0xffffffff81000200);
	CHECK_EQ(r[2].from, 0);
	CHECK_EQ(r[3].from, 0); /* of a module */
	gone();
	CHECK_EQ(ksym_ranges(dir, r, 1), -ENOENT);
}

TEST(addresses_that_are_hidden_are_no_range)
{
	struct ksym_range r = { .name = "first" };

	kallsyms("0000000000000000 T _text\n0000000000000000 t first\n");
	CHECK_EQ(ksym_ranges(dir, &r, 1), 0);
	CHECK_EQ(r.from, 0);
	CHECK_EQ(r.to, 0);
	gone();
}

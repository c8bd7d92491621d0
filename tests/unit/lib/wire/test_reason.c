// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/reason.h"
#include "tests/lib/test.h"

TEST(every_reason_is_found_by_its_id_and_none_other)
{
	size_t n;
	const struct reason *t = reason_table(&n);

	CHECK(n >= 7);
	for (size_t i = 0; i < n; i++)
		CHECK(reason_find(t[i].id) == &t[i]);
	CHECK(!reason_find(65535));
	CHECK(!reason_find(UINT64_MAX));
}

TEST(no_id_and_no_code_is_used_twice)
{
	size_t n;
	const struct reason *t = reason_table(&n);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(t[i].id != t[j].id && strcmp(t[i].code, t[j].code) != 0);
}

/* Whether each {name} in one text is in the other too. */
static bool has_all(const char *of, const char *in)
{
	for (const char *s = strchr(of, '{'); s; s = strchr(s + 1, '{')) {
		AUTO_FREE char *name = strndup(s, strcspn(s, "}") + 1);

		if (!strstr(in, name))
			return false;
	}
	return true;
}

TEST(both_languages_name_the_same_parameters)
{
	size_t n;
	const struct reason *t = reason_table(&n);

	for (size_t i = 0; i < n; i++) {
		CHECK(*t[i].en && *t[i].zh);
		CHECK(has_all(t[i].en, t[i].zh));
		CHECK(has_all(t[i].zh, t[i].en));
	}
}

TEST(the_ids_of_reasons_never_change)
{
	CHECK_STR(reason_find(R_UNKNOWN)->code, "unknown");
	CHECK_EQ(R_UNKNOWN, 0);
	CHECK_STR(reason_find(1)->code, "up.slow");
	CHECK_STR(reason_find(2)->code, "up.connect");
	CHECK_STR(reason_find(3)->code, "up.error");
	CHECK_STR(reason_find(4)->code, "up.retry");
	CHECK_STR(reason_find(5)->code, "client.abort");
	CHECK_STR(reason_find(6)->code, "app.error");
}

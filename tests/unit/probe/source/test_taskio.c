// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_record_text.h"
#include "tests/lib/test.h"

static void path_is(const void *names, size_t len, uint32_t cut, const char *expected)
{
	static struct cgroup_record c;
	char text[ITEM_MAX_TEXT];

	memset(&c, 0, sizeof(c));
	memcpy(c.path, names, len);
	c.len = (__u32)len;
	c.cut = cut;
	cgroup_record_text(&c, 0x42, text);
	CHECK_STR(text, expected);
}

#define PATH_IS(names, expected) path_is(names, sizeof(names) - 1, 0, expected)

TEST(a_path_is_assembled_from_its_end)
{
	char much[CGROUP_RECORD_PATH], text[ITEM_MAX_TEXT] = "~0000000000000042";

	PATH_IS("\0", "/");
	PATH_IS("a\0", "/a");
	PATH_IS("c.scope\0b.slice\0a.slice\0", "/a.slice/b.slice/c.scope");
	PATH_IS("c\0b", "/c"); /* not terminated */
	path_is("c\0b\0", 4, 1, "~0000000000000042/b/c");
	memset(much, 'x', sizeof(much));
	for (size_t i = 9; i < sizeof(much); i += 10)
		much[i] = 0;
	for (size_t i = 0; i < 20; i++)
		strcat(text, "/xxxxxxxxx");
	path_is(much, 760, 1, text);
}

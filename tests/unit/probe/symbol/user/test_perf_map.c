// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/perf_map.h"

#include <sys/mman.h>

#include "tests/lib/test.h"

static char name[SYMBOL_NAME];

static const char *look_up_in(const char *text, size_t len, uint64_t addr, size_t bytes)
{
	AUTO_CLOSE int fd = memfd_create("map", MFD_CLOEXEC);
	struct symbol_lookup a = { .addr = addr };
	static struct perf_map m;

	CHECK_EQ(write(fd, text, len), len);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	perf_map_open(&m, fd);
	while (!perf_map_step(&m, &a, 1, bytes))
		;
	snprintf(name, sizeof(name), "%s", a.found ? a.name : "nothing");
	return name;
}

static const char *look_up(const char *text, uint64_t addr)
{
	return look_up_in(text, strlen(text), addr, 1);
}

TEST(a_line_names_what_lies_in_it)
{
	static const char map[] = "7f0000001000 20 LazyCompile:~first /app/a.js:1\n"
				  "7F0000001020 8 second\n";

	CHECK_STR(look_up(map, 0x7f0000001000), "LazyCompile:~first /app/a.js:1");
	CHECK_STR(look_up(map, 0x7f000000101f), "LazyCompile:~first /app/a.js:1");
	CHECK_STR(look_up(map, 0x7f0000001020), "second");
	CHECK_STR(look_up(map, 0x7f0000001028), "nothing");
	CHECK_STR(look_up(map, 0), "nothing");
}

TEST(of_two_that_hold_an_address_the_later_counts)
{
	CHECK_STR(look_up("1000 100 old\n1010 10 new\n", 0x1010), "new");
	CHECK_STR(look_up("1000 100 old\n1010 10 new\n", 0x1020), "old");
}

TEST(a_line_that_is_none_is_passed_over)
{
	CHECK_STR(look_up("\n \n1000\n1000 100\n1000 100 \nxyz 1 a\n1000 100 good\n", 0x1000),
		  "good");
	CHECK_STR(look_up("0x1000 100 a\n", 0x1000), "nothing");
	CHECK_STR(look_up("11112222333344445 10 a\n", 0x1111222233334444), "nothing");
	CHECK_STR(look_up("1000 ffffffffffffffff a\n", UINT64_MAX), "a");
	CHECK_STR(look_up("ffffffffffffffff ffffffffffffffff a\n", 3), "nothing");
	CHECK_STR(look_up("1000 100 not whole", 0x1000), "nothing");
}

TEST(a_name_is_made_text_and_a_long_one_cut)
{
	char line[400] = "1000 100 ";

	CHECK_STR(look_up("1000 100 a\033[2Jb\n", 0x1000), "a\\x1b[2Jb");
	memset(line + strlen(line), 'x', 300);
	strcat(line, "\n");
	CHECK_EQ(strlen(look_up(line, 0x1000)), SYMBOL_NAME - 1);
}

TEST(a_line_longer_than_any_is_passed_over_and_the_next_is_read)
{
	static char text[3 * PERF_MAP_PIECE];
	size_t len = 2 * PERF_MAP_PIECE + 77;

	memset(text, '1', sizeof(text));
	strcpy(text + len, "\n1000 100 next\n");
	CHECK_STR(look_up_in(text, strlen(text), 0x1000, 1), "next");
	memcpy(text, "1000 100 ", 9);
	CHECK_STR(look_up_in(text, strlen(text), 0x1000, 1 << 20), "next");
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/symbol/kernel/ksym.h"
#include "probe/symbol/kernel/ksym_kernel.h"
#include "tests/lib/test.h"

#define AT 0xffffffff81234567ull

TEST(the_kernels_text_is_parsed_into_a_place)
{
	struct ksym_place p;

	ksym_place_of("do_fsync+0x1a/0x40", AT, &p);
	CHECK_STR(p.name, "do_fsync");
	CHECK_EQ(p.from, AT - 0x1a);
	CHECK_EQ(p.to, AT - 0x1a + 0x40);
	ksym_place_of("ext4_sync_file+0x2c/0x1b0 [ext4]", AT, &p);
	CHECK_STR(p.name, "ext4_sync_file [ext4]");
	ksym_place_of("operator+.part.0+0x0/0x8", AT, &p);
	CHECK_STR(p.name, "operator+.part.0");
}

TEST(text_without_a_symbol_is_no_place)
{
	static const char *const texts[] = { "0xffffffff81234567",
					     "",
					     "do_fsync",
					     "do_fsync+0x1a",
					     "do_fsync+0x50/0x40",
					     "+",
					     "a+0xffffffffffffffff/0x1",
					     "cut+0x1/" };
	struct ksym_place p;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ksym_place_of(texts[i], AT, &p);
		CHECK_EQ(p.from, 0);
		CHECK_STR(p.name, "");
	}
}

enum { SOME = 1000 };

/* Inside each of so many functions, from all over the file. */
static size_t addresses(uint64_t addr[SOME])
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[600];
	size_t n = 0;

	CHECK(f != NULL);
	for (size_t i = 0; n < SOME && fgets(line, sizeof(line), f); i++) {
		uint64_t at = strtoull(line, NULL, 16);

		if (at && i % 97 == 0 && strchr("tT", line[17]) && !strstr(line, "__init"))
			addr[n++] = at + i % 3;
	}
	fclose(f);
	return n;
}

static void whole_pass(struct ksyms *k, const uint64_t *addr, size_t n)
{
	ksyms_begin(k, addr, n);
	while (!ksyms_step(k, 1 << 20))
		;
}

/* For another file with the same text the kernel program is not used. */
TEST(the_kernel_program_and_kallsyms_agree)
{
	char dir[] = "/tmp/seismo-ksym.XXXXXX", path[64];
	struct ksyms *kernel, *file;
	uint64_t addr[SOME];
	size_t n = addresses(addr), same = 0;

	if (geteuid() != 0)
		return;
	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	CHECK_EQ(symlink("/proc/kallsyms", path), 0);
	kernel = ksyms_new("/proc");
	file = ksyms_new(dir);
	CHECK(ksyms_quick(kernel));
	CHECK(!ksyms_quick(file));
	whole_pass(kernel, addr, n);
	whole_pass(file, addr, n);
	CHECK(!ksyms_hidden(kernel));
	for (size_t i = 0; i < n; i++) {
		char a[KSYM_TEXT], b[KSYM_TEXT];
		uint64_t from[2], to[2];

		same += strcmp(ksyms_name(kernel, addr[i], a), ksyms_name(file, addr[i], b)) == 0 &&
			ksyms_function(kernel, addr[i], a, &from[0], &to[0]) &&
			ksyms_function(file, addr[i], b, &from[1], &to[1]) && from[0] == from[1];
	}
	CHECK(n >= SOME / 2);
	CHECK_EQ(same, n);
	ksyms_free(kernel);
	ksyms_free(file);
	unlink(path);
	rmdir(dir);
}

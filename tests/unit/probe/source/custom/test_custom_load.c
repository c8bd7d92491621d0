// SPDX-License-Identifier: Apache-2.0
/*
 * A damaged object can only crash the process that loads it. Of 20,000 objects with one to four
 * flipped bits, libbpf 1.1.2 crashed with SIGSEGV on 163 (drops.bpf.o) and 68 (block.bpf.o);
 * tests/data/own/damaged.bpf.o is one of them, and good.bpf.o its origin: bpf/net/drops.bpf.c with
 * a plain counter for each reason. Needs root, to load programs.
 */
#include <dirent.h>
#include <fcntl.h>

#include "probe/source/custom/custom_load.h"
#include "tests/lib/test.h"

enum { FLIPS = 40, ROOM = 64 << 10 };

static char why[CUSTOM_WHY];
static struct custom_fds fds;
static struct custom_shape shape[CUSTOM_MAPS];

static void manifest(struct custom_manifest *m, const char *map, const char *metric)
{
	char text[512], err[256] = "";
	FILE *f;

	snprintf(text, sizeof(text), "[map %s]\n[metric x]\nmap = %s\n%s", map, map, metric);
	f = fmemopen(text, strlen(text), "r");
	CHECK(f && custom_manifest_read(f, "x.conf", m, err, sizeof(err)) == 0);
	CHECK_STR(err, "");
	if (f)
		fclose(f);
}

static ssize_t read_file(const char *path, void *data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, data, ROOM);

	CHECK(len > 1000);
	close(fd);
	return len;
}

static const void *good(size_t *len)
{
	static char data[ROOM];

	*len = (size_t)read_file("tests/data/own/good.bpf.o", data);
	return data;
}

static int load(const void *data, size_t len)
{
	static struct custom_manifest m;
	const struct custom_file f = { data, len, "x", "x.conf" };

	manifest(&m, "drops", "kind = counter\n");
	memset(&fds, 0, sizeof(fds));
	why[0] = 0;
	return custom_load(&f, &m, &fds, shape, why);
}

TEST(a_good_object_is_loaded_attached_and_unloaded)
{
	size_t len;
	const void *elf = good(&len);
	int before = test_open_fds();

	if (geteuid() != 0)
		return;
	CHECK_EQ(load(elf, len), 0);
	CHECK_STR(why, "");
	CHECK(fds.n >= 3 && fds.map[0] < fds.n); /* a map, a program, its link */
	CHECK_EQ(shape[0].key_size, 4);
	CHECK_EQ(shape[0].value_size, 8);
	CHECK_EQ(test_open_fds(), before + (int)fds.n);
	custom_unload(&fds);
	CHECK_EQ(test_open_fds(), before);
}

TEST(a_manifest_that_does_not_fit_its_object_is_refused)
{
	static const struct {
		const char *map, *metric, *want;
	} bad[] = {
		{ "drop", "kind = counter\n", "x.conf:1: the object has no map drop" },
		{ "drops", "kind = counter\nfield = n\n",
		  "x.conf:2: the value is no struct: it has no member n" },
		{ "drops", "kind = histogram\nfirst = 0\n",
		  "x.conf:2: a histogram needs an array of 2 to 64 __u32 or __u64" },
	};
	size_t len;
	const void *elf = good(&len);
	const struct custom_file f = { elf, len, "x", "x.conf" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct custom_manifest m;

		manifest(&m, bad[i].map, bad[i].metric);
		CHECK(custom_load(&f, &m, &fds, shape, why) < 0);
		CHECK_STR(why, bad[i].want);
	}
}

TEST(an_object_that_crashes_libbpf_crashes_nothing_else)
{
	static char data[ROOM];
	ssize_t len = read_file("tests/data/own/damaged.bpf.o", data);
	int before = test_open_fds();

	CHECK(load(data, (size_t)len) < 0);
	CHECK(strstr(why, "x.bpf.o is damaged: reading it crashed") ||
	      strstr(why, "x.bpf.o is no object that libbpf can read"));
	CHECK_EQ(test_open_fds(), before);
}

static void survives(const void *data, size_t len)
{
	int before = test_open_fds(), r = load(data, len);

	CHECK((r < 0) == (why[0] != 0));
	if (r == 0)
		custom_unload(&fds);
	CHECK_EQ(test_open_fds(), before);
}

TEST(a_truncated_object_is_refused_with_a_sentence)
{
	size_t len;
	const void *elf = good(&len);

	for (size_t n = 0; n < len; n += 61) {
		survives(elf, n);
		CHECK(why[0] != 0);
	}
}

TEST(an_object_with_flipped_bits_is_loaded_or_refused_with_a_sentence)
{
	static unsigned char data[ROOM];
	size_t len;
	const void *elf = good(&len);
	uint64_t random = 1;

	CHECK(len < sizeof(data));
	for (int i = 0; i < FLIPS; i++) {
		memcpy(data, elf, len);
		for (int bit = 0; bit <= i % 4; bit++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			data[(random >> 33) % len] ^= (unsigned char)(1u << (random >> 61));
		}
		survives(data, len);
	}
}

// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "probe/request/nginx/nginx_elf.h"
#include "tests/lib/test.h"

/* This test program looks like nginx by its symbols. */
long ngx_http_free_request(long r, long rc);
extern volatile long ngx_cached_time;

volatile long ngx_cached_time;

__attribute__((noinline)) long ngx_http_free_request(long r, long rc)
{
	return ngx_cached_time + r + rc;
}

static uint8_t *image; /* of this program's file */
static size_t image_len;

static int custom_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	image_len = (size_t)st.st_size;
	if (!image) {
		image = calloc(1, image_len);
		if (!image || pread(fd, image, image_len, 0) != (ssize_t)image_len)
			return -1;
	}
	return fd;
}

/* The first len bytes of the image as a file. */
static int file_of(size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, image, len) != (ssize_t)len)
		return -1;
	return fd;
}

/* Reads a whole file in steps; how many there were is in steps. */
static size_t steps;

static int read_elf(int fd, struct nginx_elf *e)
{
	struct nginx_search *s = nginx_search_new(fd);
	int r = 0;

	for (steps = 0; r == 0; steps++) {
		size_t bytes = 64 * 1024;

		r = nginx_search_step(s, &bytes, e);
		CHECK_EQ(bytes, 0);
	}
	nginx_search_free(s);
	return r > 0 ? 0 : r;
}

TEST(a_program_with_that_function_is_found)
{
	AUTO_CLOSE int fd = custom_file();
	struct nginx_elf e;

	CHECK_EQ(read_elf(fd, &e), 0);
	CHECK(e.probe_at != 0 && e.clock_at != 0);
	CHECK(e.probe_offset < image_len);
	CHECK(strlen(e.build_id) >= 16);
}

TEST(the_probe_goes_to_the_function_start_or_behind_endbr64)
{
	AUTO_CLOSE int fd = custom_file();
	const uint8_t *code = (const uint8_t *)(uintptr_t)ngx_http_free_request;
	size_t skip = memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
	struct nginx_elf e;

	CHECK_EQ(read_elf(fd, &e), 0);
	CHECK_EQ(memcmp(image + e.probe_offset, code + skip, 8), 0);
	CHECK_EQ(e.probe_at & 0xfff, ((uintptr_t)code + skip) & 0xfff);
}

TEST(other_programs_and_other_files_are_not_nginx)
{
	AUTO_CLOSE int sh = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int text = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int directory = open("/", O_RDONLY | O_CLOEXEC);
	struct nginx_elf e;

	CHECK_EQ(read_elf(sh, &e), -ENOENT);
	CHECK_EQ(read_elf(text, &e), -ENOEXEC);
	CHECK(read_elf(directory, &e) < 0);
	CHECK(read_elf(-1, &e) < 0);
}

TEST(a_truncated_file_is_not_read_past_its_end)
{
	AUTO_CLOSE int own = custom_file();
	struct nginx_elf e;

	CHECK(own >= 0);
	for (size_t i = 0; i < 64; i++) {
		AUTO_CLOSE int fd = file_of(image_len * i / 64);

		CHECK(read_elf(fd, &e) < 0);
	}
}

/* Any result is fine, but no fault; most useful under the sanitizers. */
TEST(a_damaged_file_does_no_harm)
{
	AUTO_CLOSE int own = custom_file();
	AUTO_CLOSE int fd = file_of(image_len);
	uint64_t x = 88172645463325252ull, tables, at;
	struct nginx_elf e;
	uint8_t bad;

	CHECK(own >= 0);
	memcpy(&tables, image + 40, sizeof(tables)); /* e_shoff */
	for (int i = 0; i < 1500; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at = i & 1 ? x % 1024 : tables + (x >> 8) % (image_len - tables);
		bad = (uint8_t)(x >> 40);
		CHECK_EQ(pwrite(fd, &bad, 1, (off_t)at), 1);
		read_elf(fd, &e) == 0 ? (void)0 : (void)e;
		CHECK_EQ(pwrite(fd, image + at, 1, (off_t)at), 1);
	}
	CHECK_EQ(read_elf(fd, &e), 0);
}

/* As by tests/it/hostile/foreign: the last section table claims this number of bytes of symbols. */
static int sparse_file(uint64_t symbols)
{
	static const char strings[] = "\0ngx_http_free_request\0ngx_cached_time";
	uint64_t base = (image_len + 4095) & ~4095ull, tables = base + 4096, at = base + 8192;
	Elf64_Shdr sh[3] = {
		{ 0 },
		{ .sh_type = SHT_DYNSYM,
		  .sh_offset = at,
		  .sh_size = symbols,
		  .sh_link = 2,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB, .sh_offset = base, .sh_size = sizeof(strings) }
	};
	Elf64_Ehdr head;
	int fd = file_of(image_len);

	memcpy(&head, image, sizeof(head));
	head.e_shoff = tables;
	head.e_shnum = 3;
	CHECK_EQ(ftruncate(fd, (off_t)(at + symbols)), 0);
	CHECK_EQ(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	CHECK_EQ(pwrite(fd, strings, sizeof(strings), (off_t)base), sizeof(strings));
	CHECK_EQ(pwrite(fd, sh, sizeof(sh), (off_t)tables), sizeof(sh));
	return fd;
}

TEST(a_sparse_table_of_symbols_is_refused_at_its_first_hole)
{
	static const uint64_t sizes[] = { 24 << 20, 3000000000000, 1ull << 60 };
	AUTO_CLOSE int own = custom_file();
	struct nginx_elf e;

	CHECK(own >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		AUTO_CLOSE int fd = sparse_file(sizes[i]);

		CHECK(read_elf(fd, &e) < 0);
		CHECK(steps < 8);
	}
}

TEST(a_large_table_is_read_in_steps_and_not_beyond_its_limit)
{
	AUTO_CLOSE int own = custom_file();
	AUTO_CLOSE int fd = sparse_file(200 << 20);
	static char ones[1 << 20];
	struct nginx_elf e;

	CHECK(own >= 0);
	memset(ones, 1, sizeof(ones));
	for (off_t i = 0; i < 200; i++)
		CHECK_EQ(pwrite(fd, ones, sizeof(ones),
				(off_t)((image_len + 4095) & ~4095ull) + 8192 + (i << 20)),
			 sizeof(ones));
	CHECK_EQ(read_elf(fd, &e), -ENOENT);
	CHECK(steps > 300 && steps < 1024);
}

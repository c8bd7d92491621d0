// SPDX-License-Identifier: Apache-2.0
/*
 * What names code and is anybody's: an ELF file, a runtime's map of it, a line of /proc/PID/maps.
 * The first byte chooses. A name is text, and lies around what it was asked for.
 */
#include <sys/mman.h>

#include "probe/request/nginx/nginx_elf.h"
#include "probe/symbol/user/elf_file.h"
#include "probe/symbol/user/perf_map.h"
#include "probe/symbol/user/proc_code.h"
#include "tests/fuzz/check.h"

enum { ASKED = 4, STEP = 4096 };

static int file_of(const uint8_t *data, size_t len)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, len, 0) == (ssize_t)len);
	must(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void check_found(const struct symbol_lookup *a)
{
	if (!a->found)
		return;
	must(a->name[0] && strnlen(a->name, sizeof(a->name)) < sizeof(a->name));
	must(is_text(a->name, strlen(a->name)));
	must(a->start <= a->addr);
}

/* The same file as a program that may be nginx. */
static void search(int fd)
{
	struct nginx_search *s = nginx_search_new(fd);
	struct nginx_elf e = { 0 };
	size_t bytes;
	int r = 0;

	for (int i = 0; r == 0; i++) {
		must(i < 64);
		bytes = 1;
		r = nginx_search_step(s, &bytes, &e);
	}
	must(r < 0 || (e.probe_at && e.probe_offset));
	nginx_search_free(s);
}

/* Offsets that are in the input, and some of its size. */
static void elf(const uint8_t *data, size_t len)
{
	struct symbol_lookup a[ASKED];
	struct elf_file e;
	size_t n = 0;

	if (elf_file_open(&e, file_of(data, len)) < 0)
		return;
	must(e.nloads <= ELF_FILE_LOADS && e.table.symbol_at <= e.table.symbol_end &&
	     e.table.symbol_end <= len);
	for (size_t i = 0; i < ASKED; i++) {
		uint64_t offset = i < e.nloads ? e.load[i].offset + i * 16 : len / (i + 1);

		n += elf_file_lookup(&e, offset, &a[n]);
	}
	for (size_t i = 0; i < n; i++)
		must(a[i].start <= a[i].addr && a[i].addr < a[i].end);
	for (int i = 0; !elf_file_step(&e, a, n, STEP); i++)
		must(i < 64);
	search(e.fd);
	for (size_t i = 0; i < n; i++) {
		check_found(&a[i]);
		must(a[i].addr < a[i].end);
	}
}

static void map(const uint8_t *data, size_t len)
{
	static const uint64_t asked[ASKED] = { 0, 0x1000, 0x7f0000001000, UINT64_MAX };
	struct symbol_lookup a[ASKED] = { 0 };
	static struct perf_map m;

	for (size_t i = 0; i < ASKED; i++)
		a[i].addr = asked[i];
	perf_map_open(&m, file_of(data, len));
	while (!perf_map_step(&m, a, ASKED, STEP))
		;
	for (size_t i = 0; i < ASKED; i++)
		check_found(&a[i]);
}

static void line(const uint8_t *data, size_t len)
{
	struct mapping m;

	if (mapping_read((const char *)data, len, &m))
		must(m.start <= m.end && strnlen(m.path, sizeof(m.path)) < sizeof(m.path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;
	if (*data == 'm')
		map(data + 1, len - 1);
	else if (*data == 'l')
		line(data + 1, len - 1);
	else
		elf(data + 1, len - 1);
	return 0;
}

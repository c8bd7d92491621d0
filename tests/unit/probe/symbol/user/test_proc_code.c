// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/proc_code.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/lib/test.h"

static const char *root;

__attribute__((constructor)) static void make_root(void)
{
	static char name[] = "/tmp/proc_code.XXXXXX";

	root = mkdtemp(name);
}

__attribute__((destructor)) static void drop_root(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command) != 0)
		puts("not removed");
}

static const char *in_root(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_root(name), "we");

	fputs(text, f);
	fclose(f);
}

/* A process 7, whose root is a directory of its own. */
static void make_process(void)
{
	mkdir(in_root("7"), 0755);
	mkdir(in_root("7/root"), 0755);
	mkdir(in_root("7/root/lib"), 0755);
	put("7/root/lib/a.so", "here");
	put("outside", "there");
}

static int open_at(uint64_t ino, const char *path, bool same)
{
	struct mapping m = { .ino = ino };
	struct foreign_id id;
	int fd;

	snprintf(m.path, sizeof(m.path), "%s", path);
	fd = proc_code_open(root, 7, &m, same, &id);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST(a_line_of_what_can_be_executed_is_read_and_others_are_not)
{
	static const char code[] =
		"7f00000010-7f00000020 r-xp 00001000 fe:01 1234    /a b (deleted)\n";
	static const char data[] = "7f00000010-7f00000020 rw-p 00001000 fe:01 1234    /a\n";
	struct mapping m;

	CHECK(mapping_read(code, strlen(code), &m));
	CHECK_EQ(m.start, 0x7f00000010);
	CHECK_EQ(m.end, 0x7f00000020);
	CHECK_EQ(m.offset, 0x1000);
	CHECK_EQ(m.dev, 0xfe << 20 | 1);
	CHECK_EQ(m.ino, 1234);
	CHECK_STR(m.path, "/a b (deleted)");
	CHECK(!mapping_read(data, strlen(data), &m));
	CHECK(!mapping_read("20-10 r-xp 0 0:0 0\n", 20, &m));
	CHECK(!mapping_read("", 0, &m));
	CHECK(mapping_read("10-20 r-xp 0 0:0 0\n", 20, &m));
	CHECK_STR(m.path, "");
}

TEST(files_are_looked_for_in_the_root_of_the_process_and_nowhere_else)
{
	char up[PATH_MAX];

	make_process();
	CHECK_EQ(open_at(1, "/lib/a.so", false), 0);
	CHECK_EQ(open_at(1, "/lib/../../../lib/a.so", false), 0);
	CHECK_EQ(open_at(1, "/lib/b.so", false), -ENOENT);
	CHECK_EQ(open_at(1, "/lib", false), -ENOENT);
	CHECK_EQ(open_at(1, in_root("outside"), false), -ENOENT);
	snprintf(up, sizeof(up), "%s", in_root("outside"));
	CHECK_EQ(symlink(up, in_root("7/root/lib/link")), 0);
	CHECK_EQ(open_at(1, "/lib/link", false), -ENOENT);
	CHECK_EQ(mkfifo(in_root("7/root/lib/fifo"), 0600), 0);
	CHECK_EQ(open_at(1, "/lib/fifo", false), -ENOENT);
}

TEST(a_file_that_must_be_the_same_has_its_inode)
{
	struct stat st;

	make_process();
	CHECK_EQ(stat(in_root("7/root/lib/a.so"), &st), 0);
	CHECK_EQ(open_at(st.st_ino, "/lib/a.so", true), 0);
	CHECK_EQ(open_at(st.st_ino + 1, "/lib/a.so", true), -ESTALE);
}

/* The mappings of process 7 in steps of this number of lines; how many calls it took. */
static uint32_t read_maps(uint32_t at_once, uint32_t *calls)
{
	static struct proc_code c;
	uint32_t n = 0, lines;
	struct mapping m;
	int r;

	*calls = 0;
	CHECK_EQ(proc_code_begin(&c, root, 7), 0);
	do {
		lines = at_once;
		while ((r = proc_code_next(&c, root, &lines, &m)) > 0)
			CHECK_EQ(m.start, 0x1000 * ++n);
		CHECK(lines <= at_once);
		++*calls;
	} while (r == 0);
	CHECK_EQ(r, -ENOENT);
	CHECK_EQ(c.fd, 0);
	return n;
}

static void make_maps(uint32_t lines)
{
	FILE *f;

	make_process();
	f = fopen(in_root("7/maps"), "we");
	for (uint32_t i = 1; i <= lines; i++)
		fprintf(f, "%x-%x r-xp 00000000 00:2a 7 /lib/%040u.so\n", i * 0x1000,
			i * 0x1000 + 0x800, i);
	fclose(f);
}

TEST(mappings_are_read_in_steps)
{
	uint32_t calls;

	make_maps(1000);
	CHECK_EQ(read_maps(1000000, &calls), 1000);
	CHECK_EQ(calls, 1);
	CHECK_EQ(read_maps(7, &calls), 1000);
	CHECK(calls >= 1000 / 7);
}

TEST(of_very_many_mappings_the_first_are_read_and_the_rest_is_refused)
{
	uint64_t refused = foreign_refused();
	uint32_t calls;

	make_maps(100000);
	CHECK_EQ(read_maps(512, &calls), foreign_limits[FOREIGN_MAPS].entries);
	CHECK_EQ(foreign_refused() - refused, 1);
}

TEST(a_line_of_mappings_that_never_ends_ends_the_reading)
{
	uint32_t calls;
	FILE *f;

	make_maps(3);
	f = fopen(in_root("7/maps"), "ae");
	for (int i = 0; i < 100000; i++)
		fputs("4000-5000 r-xp", f);
	fclose(f);
	CHECK_EQ(read_maps(512, &calls), 3);
}

TEST(of_a_process_in_a_namespace_the_map_has_the_number_it_knows_itself_by)
{
	static struct proc_code c;
	struct foreign_id id;
	char status[256];
	int fd;

	make_process();
	mkdir(in_root("7/root/tmp"), 0755);
	put("7/root/tmp/perf-3.map", "1000 10 a\n");
	snprintf(status, sizeof(status),
		 "Name:\tx\nPPid:\t5\nUid:\t%u\t%u\t1\t1\nNSpid:\t7\t44\t3\n", getuid(), geteuid());
	put("7/status", status);
	fd = proc_code_open_perf_map(root, 7, &id);
	CHECK(fd >= 0);
	close(fd);
	put("7/status", "Name:\tx\nUid:\t4711\t4711\t0\t0\nNSpid:\t7\t44\t3\n");
	CHECK_EQ(proc_code_open_perf_map(root, 7, &id), -EPERM);
	put("7/status", "Name:\tx\n");
	CHECK_EQ(proc_code_open_perf_map(root, 7, &id), -ESRCH);
	CHECK_EQ(proc_code_parent(root, 7), 0);
	put("7/status", status);
	CHECK_EQ(proc_code_parent(root, 7), 5);
	CHECK(proc_code_begin(&c, root, 8) < 0);
}

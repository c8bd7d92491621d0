// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/usym.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "probe/symbol/user/elf_file.h"
#include "tests/fake/frame.h"
#include "tests/lib/test.h"

static char text[USYM_TEXT];
static struct usym *u;

__attribute__((noinline)) static int somewhere(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static struct req_frame raw(const void *addr)
{
	return (struct req_frame){ .status = 2, .where = (uint64_t)(uintptr_t)addr };
}

static void work(void)
{
	size_t bytes = 0;
	int done = 0;

	for (int i = 0; i < 100000 && !done; i++) {
		bytes = 4096;
		done = usym_step(u, &bytes);
	}
	CHECK(done);
}

static void resolve(uint32_t pid, const struct req_frame *f, uint32_t n)
{
	u = u ? u : usym_new("/proc");
	usym_begin(u, pid, f, n);
	work();
}

static const char *frame(uint32_t i)
{
	return usym_frame(u, i, text);
}

static void end(void)
{
	usym_free(u);
	u = NULL;
}

#define IN(f, n) ((const char *)(uintptr_t)(f) + (n))

TEST(a_frame_by_build_id_and_one_by_address_have_the_same_name)
{
	struct req_frame f[] = { by_id(IN(somewhere, 2)), raw(IN(somewhere, 3)) };

	resolve(getpid(), f, 2);
	CHECK_EQ(usym_frames(u), 2);
	CHECK_STR(frame(0), "somewhere+0x2 (test_usym)");
	CHECK_STR(frame(1), "somewhere+0x3 (test_usym)");
	resolve(getpid(), f, 1); /* from what was kept */
	CHECK_STR(frame(0), "somewhere+0x2 (test_usym)");
	end();
}

TEST(a_call_at_the_end_of_a_function_is_still_that_function_s)
{
	struct req_frame f[] = { by_id(IN(somewhere, 0)), by_id(IN(somewhere, 0)) };

	resolve(getpid(), f, 2);
	CHECK_STR(frame(0), "somewhere+0x0 (test_usym)");
	CHECK(!strstr(frame(1), "somewhere"));
	end();
}

TEST(a_frame_without_a_name_keeps_its_build_id_and_offset)
{
	struct req_frame f = { 1, { 0xeb, 0xea, 0x12, [19] = 0x99 }, 0x1d51214 };
	struct req_frame vdso = raw((void *)1);

	resolve(getpid(), &f, 1);
	CHECK_STR(frame(0), "ebea120000000000000000000000000000000099+0x1d51214");
	resolve(getpid(), &vdso, 1);
	CHECK_STR(frame(0), "0x1");
	end();
}

TEST(an_address_without_code_is_no_frame)
{
	struct req_frame f[] = { by_id(IN(somewhere, 2)), raw((void *)0x3e8),
				 by_id(IN(somewhere, 2)) };

	resolve(getpid(), f, 3);
	CHECK_EQ(usym_frames(u), 1);
	CHECK(!usym_is_whole(u));
	f[1] = by_id(text); /* of this file, but data */
	resolve(getpid(), f, 3);
	CHECK_EQ(usym_frames(u), 1);
	CHECK(!usym_is_whole(u));
	end();
}

TEST(a_stack_that_the_c_library_began_is_whole)
{
	struct req_frame f[] = { by_id(IN(somewhere, 2)), raw(IN(gnu_get_libc_version, 4)) };

	resolve(getpid(), f, 2);
	CHECK(strstr(frame(1), " (libc.so.6)"));
	CHECK(usym_is_whole(u));
	resolve(getpid(), f, 1);
	CHECK(!usym_is_whole(u));
	f[0] = f[1]; /* within the library itself */
	resolve(getpid(), f, 2);
	CHECK(!usym_is_whole(u));
	f[0] = f[1] = by_id(IN(somewhere, 2));
	resolve(getpid(), f, 2);
	CHECK(!usym_is_whole(u));
	end();
}

static pid_t child(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(a_process_that_has_gone_is_named_if_it_was_noticed)
{
	struct req_frame f = by_id(IN(somewhere, 2));
	pid_t pid = child();

	stop(pid);
	resolve(pid, &f, 1);
	CHECK(!strstr(frame(0), "somewhere"));
	end();
	u = usym_new("/proc");
	pid = child();
	usym_notice(u, pid, &f, 1);
	work();
	stop(pid);
	resolve(pid, &f, 1);
	CHECK_STR(frame(0), "somewhere+0x2 (test_usym)");
	end();
}

static char *map_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	return path;
}

static void write_map(const void *at, const char *name)
{
	FILE *f = fopen(map_path(), "we");

	fprintf(f, "%lx 40 %s\n", (unsigned long)(uintptr_t)at, name);
	fclose(f);
}

static void *code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(code_of_a_runtime_has_the_name_in_its_map)
{
	char *at = code();
	struct req_frame f = raw(at + 8);

	resolve(getpid(), &f, 1);
	CHECK(strncmp(frame(0), "0x7", 3) == 0);
	write_map(at, "LazyCompile:*busy /srv/a.js:3");
	resolve(getpid(), &f, 1);
	CHECK_STR(frame(0), "LazyCompile:*busy /srv/a.js:3");
	unlink(map_path());
	end();
}

TEST(a_map_that_is_another_user_s_or_no_file_is_not_read)
{
	char *at = code();
	struct req_frame f = raw(at + 8);

	write_map(at, "busy");
	if (geteuid() == 0) {
		CHECK_EQ(chown(map_path(), 4711, 4711), 0);
		resolve(getpid(), &f, 1);
		CHECK(strncmp(frame(0), "0x7", 3) == 0);
	}
	unlink(map_path());
	CHECK_EQ(mkfifo(map_path(), 0600), 0);
	resolve(getpid(), &f, 1);
	CHECK(strncmp(frame(0), "0x7", 3) == 0);
	unlink(map_path());
	CHECK_EQ(symlink("/proc/self/mem", map_path()), 0);
	resolve(getpid(), &f, 1);
	CHECK(strncmp(frame(0), "0x7", 3) == 0);
	unlink(map_path());
	end();
}

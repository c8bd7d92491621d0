// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/base/log.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

static char said[8192];

/* What fn says to this file as its stderr; it must not die. */
static const char *hear_on(int fd, int from, void (*fn)(void))
{
	int was = dup(STDERR_FILENO);
	ssize_t n;

	dup2(fd, STDERR_FILENO);
	fn();
	dup2(was, STDERR_FILENO);
	close(was);
	n = read(from, said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = 0;
	return said;
}

static const char *hear(void (*fn)(void))
{
	int fd[2];

	CHECK_EQ(pipe(fd), 0);
	hear_on(fd[1], fd[0], fn);
	close(fd[0]);
	close(fd[1]);
	return said;
}

static void say_each(void)
{
	log_init("t", LOG_INFO);
	CHECK_EQ(log_err(-ENOENT, "%s", "a"), -ENOENT);
	CHECK_EQ(log_warn(0, "b"), 0);
	log_info("c");
}

TEST(a_line_has_its_priority_its_name_and_its_error)
{
	CHECK_STR(hear(say_each), "<3>t: a: No such file or directory\n<4>t: b\n<6>t: c\n");
}

static void say_less(void)
{
	log_init("t", LOG_WARN);
	log_info("not said");
	log_warn(0, "said");
}

TEST(what_is_below_the_level_is_not_said)
{
	CHECK_STR(hear(say_less), "<4>t: said\n");
}

static void say_hostile(void)
{
	log_init("t", LOG_INFO);
	log_info("path %s", "/\x1b]0;x\a\n<0>t: forged \xe2\x80\xae\xff");
}

TEST(text_from_outside_controls_no_terminal_and_makes_no_line)
{
	CHECK_STR(hear(say_hostile),
		  "<6>t: path /\\x1b]0;x\\x07\\x0a<0>t: forged \\u{202E}\\xff\n");
}

static void say_much(void)
{
	static char much[5000];

	memset(much, '\n', sizeof(much) - 1);
	log_info("%s", much);
}

TEST(a_line_that_is_too_long_is_cut_and_ends)
{
	const char *line = hear(say_much);

	CHECK(strlen(line) < 2200);
	CHECK(strchr(line, '\n') == line + strlen(line) - 1);
}

static void say_and_die(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		die("no %s", "way");
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(a_mistake_of_ours_says_so_and_dies)
{
	CHECK_STR(hear(say_and_die), "<3>t: no way\n");
}

/* A file that logs are appended to, as it is when a program is started with 2>>file. */
static int log_file(int *from)
{
	char path[] = "/tmp/test_log.XXXXXX";
	int fd;

	*from = mkstemp(path);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	unlink(path);
	return fd;
}

TEST(a_line_in_a_plain_file_begins_with_the_time)
{
	AUTO_CLOSE int from = -1;
	AUTO_CLOSE int fd = log_file(&from);

	clock_set_ns(1760000000000000000u);
	CHECK_STR(hear_on(fd, from, say_less), "2025-10-09T08:53:20Z <4>t: said\n");
}

/* Whether this file system can cut a file at its start. */
static bool can_cut(int fd)
{
	bool can;

	CHECK_EQ(ftruncate(fd, 4 << 20), 0);
	can = fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 1 << 20) == 0;
	CHECK_EQ(ftruncate(fd, 0), 0);
	return can;
}

TEST(a_plain_file_that_is_full_keeps_its_last_lines)
{
	AUTO_CLOSE int from = -1;
	AUTO_CLOSE int fd = log_file(&from);
	bool can = can_cut(fd);
	char line[64] = "";
	struct stat st;
	off_t kept;

	CHECK_EQ(ftruncate(fd, 16 << 20), 0);
	CHECK_EQ(write(fd, "the last line\n", 14), 14);
	hear_on(fd, from, say_less);
	CHECK_EQ(fstat(fd, &st), 0);
	kept = st.st_size - (off_t)strlen("2025-10-09T08:53:20Z <4>t: said\n");
	CHECK_EQ(pread(from, line, sizeof(line) - 1, can ? kept - 14 : kept) > 0, 1);
	CHECK_STR(line, can ? "the last line\n2025-10-09T08:53:20Z <4>t: said\n"
			    : "2025-10-09T08:53:20Z <4>t: said\n");
	CHECK(can ? kept >= 4 << 20 && kept <= 5 << 20 : kept == 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/fake/clock.h"
#include "tests/lib/test.h"

#define NOON 1792238400000000000ull /* 2026-10-17T12:00:00Z */

/* What log_warn writes when stderr is a file of so many bytes before. */
static size_t logged(off_t before, char *out, size_t size)
{
	char path[] = "/tmp/seismo-log.XXXXXX";
	AUTO_CLOSE int kept = dup(STDERR_FILENO);
	AUTO_CLOSE int fd = mkostemp(path, O_APPEND);
	ssize_t n;

	CHECK(fd >= 0 && ftruncate(fd, before) == 0 && dup2(fd, STDERR_FILENO) >= 0);
	unlink(path);
	log_warn(-ENOENT, "no %s", "sense");
	dup2(kept, STDERR_FILENO);
	n = pread(fd, out, size - 1, lseek(fd, 0, SEEK_END) > before ? before : 0);
	out[n < 0 ? 0 : n] = 0;
	return (size_t)lseek(fd, 0, SEEK_END);
}

TEST(a_line_in_a_file_says_when)
{
	char line[200];

	clock_set_ns(NOON);
	log_init("probe", LOG_INFO);
	logged(0, line, sizeof(line));
	CHECK_STR(line, "2026-10-17T12:00:00Z <4>probe: no sense: No such file or directory\n");
}

TEST(a_file_that_is_not_full_is_continued)
{
	char line[200];

	CHECK((16 << 20) < logged(16 << 20, line, sizeof(line)));
	CHECK_STR(line, "2026-10-17T12:00:00Z <4>probe: no sense: No such file or directory\n");
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/text_clean.h"

enum { FILE_MAX_BYTES = 16 << 20, KEPT_BYTES = 4 << 20, CUT_BYTES = 1 << 20 };

static const char *who = "?";
static enum log_level threshold = LOG_INFO;

void log_init(const char *name, enum log_level level)
{
	who = name;
	threshold = level;
}

/* Keeps the last lines of a file that is full; on a file system that cannot cut at the start (other
 * than ext4 and XFS) it begins again. The cut is a multiple of all block sizes. */
static bool shorten_file(off_t size)
{
	off_t cut = (size - KEPT_BYTES) & ~(off_t)(CUT_BYTES - 1);

	return fallocate(STDERR_FILENO, FALLOC_FL_COLLAPSE_RANGE, 0, cut) == 0 ||
	       ftruncate(STDERR_FILENO, 0) == 0;
}

/* Only a plain file needs the time, and truncation when it is full: nothing else adds or rotates.
 */
static void begin_file_line(char out[static 32])
{
	time_t now = (time_t)(clock_wall_ns() / 1000000000);
	struct stat st;
	struct tm tm;

	out[0] = 0;
	if (fstat(STDERR_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (st.st_size > FILE_MAX_BYTES && !shorten_file(st.st_size))
		return;
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ ", gmtime_r(&now, &tm));
}

static void emit(enum log_level level, int err, const char *fmt, va_list ap) PRINTF(3, 0);

static void emit(enum log_level level, int err, const char *fmt, va_list ap)
{
	static const char prio[] = { '3', '4', '6' }; /* sd-daemon(3) */
	char raw[1024], line[2048], when[32];

	if (level > threshold || vsnprintf(raw, sizeof(raw), fmt, ap) < 0)
		return;
	text_clean_into(line, sizeof(line), raw, strlen(raw));
	begin_file_line(when);
	fprintf(stderr, "%s<%c>%s: %s%s%s\n", when, prio[level], who, line, err < 0 ? ": " : "",
		err < 0 ? strerror(-err) : "");
}

#define EMIT(level, err)                                                                           \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		emit(level, err, fmt, ap);                                                         \
		va_end(ap);                                                                        \
	} while (0)

int log_err(int err, const char *fmt, ...)
{
	EMIT(LOG_ERR, err);
	return err;
}

int log_warn(int err, const char *fmt, ...)
{
	EMIT(LOG_WARN, err);
	return err;
}

void log_info(const char *fmt, ...)
{
	EMIT(LOG_INFO, 0);
}

void die(const char *fmt, ...)
{
	EMIT(LOG_ERR, 0);
	abort();
}

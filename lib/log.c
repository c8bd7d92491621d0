// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

static const char *who = "?";
static enum log_level threshold = LOG_INFO;

void log_init(const char *name, enum log_level level)
{
	who = name;
	threshold = level;
}

static void emit(enum log_level level, int err, const char *fmt, va_list ap) PRINTF(3, 0);

static void emit(enum log_level level, int err, const char *fmt, va_list ap)
{
	static const char prio[] = { '3', '4', '6' }; /* sd-daemon(3) */
	char raw[1024], line[2048];

	if (level > threshold || vsnprintf(raw, sizeof(raw), fmt, ap) < 0)
		return;
	text_clean_into(line, sizeof(line), raw, strlen(raw));
	if (err < 0)
		fprintf(stderr, "<%c>%s: %s: %s\n", prio[level], who, line, strerror(-err));
	else
		fprintf(stderr, "<%c>%s: %s\n", prio[level], who, line);
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

// SPDX-License-Identifier: Apache-2.0
/*
 * log.h - one line on stderr per event; systemd adds time and unit.
 *
 * A message may hold text from outside: control characters are escaped (text_clean.h). If stderr is
 * a plain file, each line starts with the time, and the file is truncated above 16 MiB.
 */
#pragma once

#include "lib/base/base.h"

enum log_level { LOG_ERR, LOG_WARN, LOG_INFO };

void log_init(const char *who, enum log_level level);

/* err < 0 appends ": strerror(-err)". Returns err, for the caller to return. */
int log_err(int err, const char *fmt, ...) PRINTF(2, 3);
int log_warn(int err, const char *fmt, ...) PRINTF(2, 3);
void log_info(const char *fmt, ...) PRINTF(1, 2);
_Noreturn void die(const char *fmt, ...) PRINTF(1, 2);

// SPDX-License-Identifier: Apache-2.0
/*
 * log.h - one line on stderr per event; systemd adds time and unit.
 *
 * A message may hold text from outside: what would control a terminal is shown as text.h shows it.
 * Where stderr is a plain file nobody adds times or rotates: a line begins with the time then, and
 * the file begins again when it is full.
 */
#pragma once

#include "lib/base/base.h"

enum log_level { LOG_ERR, LOG_WARN, LOG_INFO };

void log_init(const char *who, enum log_level level);

/* err < 0 adds ": strerror(-err)"; the value comes back, so callers can return it */
int log_err(int err, const char *fmt, ...) PRINTF(2, 3);
int log_warn(int err, const char *fmt, ...) PRINTF(2, 3);
void log_info(const char *fmt, ...) PRINTF(1, 2);
_Noreturn void die(const char *fmt, ...) PRINTF(1, 2);

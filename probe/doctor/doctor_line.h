// SPDX-License-Identifier: Apache-2.0
/* doctor_line.h - one line of `seismo-probe doctor` on stdout: "ok" or "off", a name, a sentence.
 */
#pragma once

#include "lib/base/base.h"

/* Prints the line; returns good. */
bool doctor_line(bool good, const char *name, const char *fmt, ...) PRINTF(3, 4);

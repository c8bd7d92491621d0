// SPDX-License-Identifier: Apache-2.0
/*
 * text_clean.h - text from outside made safe for a terminal, a database and a web page.
 *
 * Bytes that are not UTF-8 and control characters (C0, DEL, C1) become \xNN, byte by byte.
 * Characters that change the text direction, and the byte order mark, become \u{NNNN}. Everything
 * else stays, backslashes too.
 */
#pragma once

#include "lib/base/base.h"

/* Returns the length without the final 0. Text that does not fit is cut, never within an escape. */
size_t text_clean_into(char *out, size_t size, const char *s, size_t len);

// SPDX-License-Identifier: Apache-2.0
/*
 * text.h - bytes from outside made fit for a terminal, a database and a page.
 *
 * What is not UTF-8 and what controls (C0, DEL, C1) becomes \xNN, byte by byte; what turns the
 * direction of text, or is invisible at its start, becomes \u{NNNN}. All else stays, backslash too.
 */
#pragma once

#include "lib/base/arena.h"

const char *text_clean(struct arena *a, const char *s, size_t len);
size_t text_clean_into(char *out, size_t size, const char *s,
		       size_t len); /* cut, not in an escape */

// SPDX-License-Identifier: Apache-2.0
/*
 * jsonb.h - appends JSON that PostgreSQL always accepts: texts escaped, numbers finite.
 *
 * Texts must be valid UTF-8. The caller writes the commas.
 */
#pragma once

#include "lib/base/buf.h"

void jsonb_raw(struct buf *b, const char *json); /* literals: braces, commas, names */
void jsonb_text(struct buf *b, const char *s);
void jsonb_number(struct buf *b, double v); /* null if it is not finite */
void jsonb_member(struct buf *b, const char *json, double v); /* raw, then the number */
void jsonb_uint(struct buf *b, uint64_t v);

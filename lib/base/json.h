// SPDX-License-Identifier: Apache-2.0
/*
 * json.h - JSON that PostgreSQL takes for certain: texts escaped, numbers finite.
 *
 * Texts must be valid UTF-8. Everything is appended; commas are the writer's business.
 */
#pragma once

#include "lib/base/buf.h"

void jsonb_raw(struct buf *b, const char *json); /* our own: braces, commas, names */
void jsonb_text(struct buf *b, const char *s);
void jsonb_number(struct buf *b, double v); /* null, if there is no such number in JSON */
void jsonb_member(struct buf *b, const char *json, double v); /* raw, then the number */
void jsonb_uint(struct buf *b, uint64_t v);

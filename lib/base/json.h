// SPDX-License-Identifier: Apache-2.0
/*
 * json.h - writes JSON that PostgreSQL accepts: no \u0000, all numbers finite. Every function
 * appends; commas are up to the caller.
 */
#pragma once

#include "lib/base/buf.h"

void json_raw(struct buf *b, const char *json); /* literal: braces, commas, names */
void json_text(struct buf *b, const char *s); /* s is valid UTF-8 */
void json_clean_text(struct buf *b, const char *s); /* s is any bytes; cleaned as by text_clean.h */
void json_number(struct buf *b, double v); /* NaN and infinity become null */
void json_member(struct buf *b, const char *json, double v); /* json_raw, then json_number */
void json_uint(struct buf *b, uint64_t v);

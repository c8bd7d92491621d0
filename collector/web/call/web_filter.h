// SPDX-License-Identifier: Apache-2.0
/*
 * web_filter.h - the values of one filter of a URL. One of the wanted values must match; none of
 * the unwanted values, written with a leading !, may match.
 *
 * Each side becomes one text that PostgreSQL parses as an array (for addresses: of LIKE
 * patterns) or, for statuses, as a multirange. The value - matches rows without a value.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/call/web_param.h"

enum web_side { WEB_WANTED, WEB_UNWANTED, WEB_SIDES };

struct web_filter {
	unsigned n;
	struct buf side[WEB_SIDES];
};

/* On -EINVAL `why` holds the message. */
int web_filter_add(struct web_filter *f, const struct web_param *p, const char *text, size_t len,
		   char why[WEB_WHY]) MUST_CHECK;
void web_filter_end(struct web_filter *f); /* after the last one */
const char *web_filter_text(const struct web_filter *f, enum web_side side); /* NULL: none */
void web_filter_free(struct web_filter *f);

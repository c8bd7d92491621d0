// SPDX-License-Identifier: Apache-2.0
/*
 * web_filter.h - the values of one filter of a URL: those wanted, of which one must match, and
 * those with a leading !, of which none may.
 *
 * Each side becomes one text that PostgreSQL reads as an array (addresses: of patterns for LIKE)
 * or, of statuses, as a multirange. A value of - stands for what is not there.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/call/web_param.h"

enum web_side { WEB_WANTED, WEB_UNWANTED, WEB_SIDES };

struct web_filter {
	unsigned n;
	struct buf side[WEB_SIDES];
};

/* -EINVAL leaves one sentence in why */
int web_filter_add(struct web_filter *f, const struct web_param *p, const char *text, size_t len,
		   char why[WEB_WHY]) MUST_CHECK;
void web_filter_end(struct web_filter *f); /* after the last one */
const char *web_filter_text(const struct web_filter *f, enum web_side side); /* NULL: none */
void web_filter_free(struct web_filter *f);

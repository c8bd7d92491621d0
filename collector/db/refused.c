// SPDX-License-Identifier: Apache-2.0
#include "collector/db/refused.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text_clean.h"

static int put_row(struct pg *p, const struct refused_item *item, const char *state,
		   const char *why)
{
	char name[256], text[REFUSED_TEXT + 1], message[300];
	struct pg_args a = { 0 };

	text_clean_into(name, sizeof(name), item->name, strlen(item->name));
	text_clean_into(text, sizeof(text), item->text, strlen(item->text));
	text_clean_into(message, sizeof(message), why, strlen(why));
	pg_arg_text(&a, item->engine);
	pg_arg_text(&a, name);
	pg_arg_text(&a, state);
	pg_arg_text(&a, message);
	pg_arg_text(&a, text);
	return pg_execute(p, "select refuse_item($1, $2, $3, $4, $5)", &a);
}

int refused_begin(struct pg *p)
{
	return pg_do(p, "savepoint item");
}

int refused_end(struct pg *p, int r, const struct refused_item *item)
{
	char state[8], why[256];

	if (r == 0)
		return pg_do(p, "release savepoint item");
	if (r != -EINVAL)
		return r;
	snprintf(state, sizeof(state), "%s", pg_state(p));
	snprintf(why, sizeof(why), "%s", pg_why(p));
	r = pg_do(p, "rollback to savepoint item; release savepoint item");
	if (r == 0)
		r = put_row(p, item, state, why);
	return r < 0 ? r : REFUSED_SKIPPED;
}

int refused_put(struct pg *p, const struct refused_item *item, const char *why)
{
	return put_row(p, item, "", why);
}

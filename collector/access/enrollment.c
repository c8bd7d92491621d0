// SPDX-License-Identifier: Apache-2.0
#include "collector/access/enrollment.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/wire/wire.h"

#define MS 1000000ull

enum { LOGS_A_MINUTE = 10 };

/* Logs at most ten refusals a minute, since anybody may send HELLO. */
static void log_refusal(struct enrollment *d, const struct ask *a)
{
	uint64_t now = clock_mono_ns();

	if (now - d->logged_ns > 60000 * MS) {
		d->logged_ns = now;
		d->logged = 0;
	}
	if (d->logged++ >= LOGS_A_MINUTE)
		return;
	if (a->why == WHY_UNKNOWN_KEY || a->why == WHY_TOKEN)
		log_info("node %s (key %.8s..., from %s) waits for approval%s%s%s: "
			 "seismo-collector node approve '%s'",
			 a->name, a->key, a->address, *a->relay ? " to relay all of region " : "",
			 a->relay,
			 a->why == WHY_TOKEN ? ", as its token is expired or unknown" : "", a->key);
	else if (a->why == WHY_NAME_TAKEN)
		log_warn(0,
			 "a machine at %s with the new key %.8s... claims to be node %s, which has "
			 "another key: if it was set up anew, seismo-collector node approve '%s'",
			 a->address, a->key, a->name, a->key);
	else if (a->why == WHY_REGION)
		log_warn(0,
			 "node %s (key %.8s..., from %s) wants to relay region %s, for which its "
			 "key was not approved: if that is right, seismo-collector node approve "
			 "'%s'",
			 a->name, a->key, a->address, *a->relay ? a->relay : "none", a->key);
	else if (a->why == WHY_FULL)
		log_warn(0, "too many keys wait for approval, new ones are not stored: "
			    "seismo-collector node list --waiting");
}

static int ask_enrol(struct enrollment *d, struct pg *p, struct ask *a)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args args = { 0 };
	char node[24];
	int e;

	snprintf(node, sizeof(node), "%" PRId64, (int64_t)a->node);
	pg_arg_text(&args, a->key);
	pg_arg_text(&args, node);
	pg_arg_text(&args, a->name);
	pg_arg_text(&args, a->machine);
	pg_arg_text(&args, a->address);
	pg_arg_text(&args, a->token);
	pg_arg_text(&args, a->relay);
	e = pg_ask(p, "select enrol($1, $2::bigint, $3, $4, $5, $6, $7)", &args, &res);
	if (e < 0)
		return e;
	a->why = (int)strtol(PQgetvalue(res, 0, 0), NULL, 10);
	if (a->why == 0)
		log_info("node %s (key %.8s..., from %s) was approved", a->name, a->key,
			 a->address);
	else
		log_refusal(d, a);
	return 0;
}

static int ask_next(struct pg *p, struct ask *a)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args args = { 0 };
	int e;

	pg_arg_text(&args, a->key);
	pg_arg_text(&args, a->next);
	e = pg_ask(p, "select approve_next($1, $2)", &args, &res);
	if (e == 0)
		a->why = *PQgetvalue(res, 0, 0) == 't' ? 0 : 1;
	return e;
}

static int ask_used(struct pg *p, const struct ask *a)
{
	struct pg_args args = { 0 };
	int e;

	pg_arg_text(&args, a->key);
	e = pg_execute(p, "select first_use($1)", &args);
	if (e == 0)
		log_info("node %s has a new key, %.8s..., which replaces the previous one", a->name,
			 a->key);
	return e;
}

int enrollment_decide(struct enrollment *d, struct pg *p, struct ask *a)
{
	switch (a->kind) {
	case ASK_ENROL:
		return ask_enrol(d, p, a);
	case ASK_NEXT:
		return ask_next(p, a);
	case ASK_USED:
		return ask_used(p, a);
	}
	return -EINVAL;
}

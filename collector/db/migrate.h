// SPDX-License-Identifier: Apache-2.0
/*
 * migrate.h - brings the database to this collector's schema: the files schema/NNN_*.sql, in order.
 *
 * Each runs once, in one transaction, under a lock, so that two collectors may start at once. The
 * files are embedded (migrations.mk). Errors are pg.h's, and *what then names the file.
 */
#pragma once

#include "collector/db/pg.h"

struct migration {
	uintptr_t number; /* 0: the end of the table */
	const char *name, *sql;
};

/* Any number will do, if it is always the same: "seismo" in ASCII. */
#define MIGRATE_LOCK "select pg_advisory_xact_lock(126879331840367)"

extern const struct migration migration_table[];

int migrate(struct pg *p, const struct migration *table, const char **what) MUST_CHECK;
int migrate_texts(struct pg *p) MUST_CHECK; /* tables reason and part say what lib/wire/reason.h does */

// SPDX-License-Identifier: Apache-2.0
/*
 * migrate.h - brings a database to the schema of this collector.
 *
 * The schema is embedded (migrations.mk), in two parts:
 *
 * Migrations, schema/sql/NNN_name: tables, types, indexes. Each runs once, in a transaction of its
 * own, in the order of their numbers. The first one is the baseline.
 *
 * Schema files, schema/sql/api and schema/sql/functions: views and functions. All of them run, in
 * one transaction, after a migration and when the hash of any differs from the one recorded in
 * table schema_file. They are "create or replace" throughout, so that they can run on a database
 * in use. What cannot be replaced, or is no longer wanted, a migration drops before.
 *
 * The version of a database is the highest number in table migration. A database below the
 * baseline, or above the last migration, is refused. All of this runs under a lock, so that two
 * collectors may start at once.
 */
#pragma once

#include "collector/db/pg.h"

enum { MIGRATE_WHY = 480 };

struct migration {
	uintptr_t number; /* 0: the end of the table */
	const char *name, *sql;
};

struct schema_file {
	const char *name, *hash, *sql; /* name NULL: the end of the table */
};

struct schema {
	const struct migration *migrations;
	const struct schema_file *files;
};

/* Any number will do, if it is always the same: "seismo" in ASCII. */
#define MIGRATE_LOCK "select pg_advisory_xact_lock(126879331840367)"

extern const struct migration migration_table[];
extern const struct schema_file schema_file_table[];

/* Errors are pg.h's; -EIO also for a database that is refused. Then why is a complete sentence. */
int migrate(struct pg *p, const struct schema *schema, char why[MIGRATE_WHY]) MUST_CHECK;
/* 0, or -EIO and why, if a database of this version is refused; 0 is an empty database. */
int migrate_accepts(const struct schema *s, uintptr_t found, char why[MIGRATE_WHY]) MUST_CHECK;
int migrate_texts(struct pg *p)
	MUST_CHECK; /* fills tables reason and part from lib/wire/reason.h */

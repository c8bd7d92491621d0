// SPDX-License-Identifier: Apache-2.0
/* Which migrations and schema files run on which database. The database is a fake: this file
   implements the part of pg.h that migrate.c uses. */
#include "tests/lib/test.h"

#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "collector/db/migrate.h"

enum { FILES = 2 };

static const struct migration migrations[] = { { 49, "049_baseline", "SQL49" },
					       { 50, "050_next", "SQL50" },
					       { 0, NULL, NULL } };
static const struct schema_file files[] = { { "api/a.sql", "hash-a", "SQLA" },
					    { "api/b.sql", "hash-b", "SQLB" },
					    { NULL, NULL, NULL } };
static const struct schema schema = { migrations, files };

static struct {
	unsigned version;
	char hash[FILES][16];
	int deadlocks; /* statements that still fail with one */
	bool fails; /* SQLB does */
	bool locked; /* in a transaction that has the lock */
	const char *state;
	char log[300];
} db;

static void reset(unsigned version)
{
	memset(&db, 0, sizeof(db));
	db.version = version;
	db.state = "";
}

static int file_named(const char *name)
{
	for (int i = 0; i < FILES; i++)
		if (strcmp(files[i].name, name) == 0)
			return i;
	return -1;
}

int pg_do(struct pg *p UNUSED, const char *sql)
{
	if (strcmp(sql, "begin; " MIGRATE_LOCK) == 0) {
		CHECK(!db.locked);
		db.locked = true;
		return 0;
	}
	CHECK(db.locked);
	if (strcmp(sql, "delete from schema_file") == 0) {
		memset(db.hash, 0, sizeof(db.hash));
		return 0;
	}
	if (strncmp(sql, "SQL", 3) != 0)
		return 0; /* the tables */
	if (db.deadlocks > 0) {
		db.deadlocks--;
		db.state = "40P01";
		return -EIO;
	}
	if (db.fails && strcmp(sql, "SQLB") == 0) {
		db.state = "42P16";
		return -EIO;
	}
	snprintf(db.log + strlen(db.log), sizeof(db.log) - strlen(db.log), "%s ", sql + 3);
	return 0;
}

int pg_ask(struct pg *p UNUSED, const char *sql, const struct pg_args *a, PGresult **out)
{
	char name[] = "v", text[20];
	PGresAttDesc column = { .name = name };

	CHECK(db.locked);
	if (strstr(sql, "from migration"))
		snprintf(text, sizeof(text), "%u", db.version);
	else
		snprintf(text, sizeof(text), "%s", db.hash[file_named(a->value[0])]);
	*out = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	PQsetResultAttrs(*out, 1, &column);
	if (*text)
		PQsetvalue(*out, 0, 0, text, (int)strlen(text));
	return 0;
}

int pg_execute(struct pg *p UNUSED, const char *sql, const struct pg_args *a)
{
	CHECK(db.locked);
	if (strstr(sql, "into migration"))
		db.version = (unsigned)strtoul(a->value[0], NULL, 10);
	else
		snprintf(db.hash[file_named(a->value[0])], sizeof(db.hash[0]), "%s", a->value[1]);
	return 0;
}

int pg_commit(struct pg *p UNUSED)
{
	db.locked = false;
	return 0;
}

void pg_rollback(struct pg *p UNUSED)
{
	db.locked = false;
}

void pg_arg_text(struct pg_args *a, const char *s)
{
	a->value[a->n++] = s;
}

void pg_arg_binary(struct pg_args *a UNUSED, const struct buf *b UNUSED)
{
}

const char *pg_why(const struct pg *p UNUSED)
{
	return "the server's reason";
}

const char *pg_state(const struct pg *p UNUSED)
{
	return db.state;
}

static char why[MIGRATE_WHY];

#define RUNS(text)                                                                                 \
	do {                                                                                       \
		db.log[0] = '\0';                                                                  \
		CHECK(migrate(NULL, &schema, why) == 0);                                           \
		CHECK(strcmp(db.log, text) == 0);                                                  \
		CHECK(!db.locked);                                                                 \
	} while (0)

#define REFUSED()                                                                                  \
	do {                                                                                       \
		db.log[0] = '\0';                                                                  \
		CHECK(migrate(NULL, &schema, why) == -EIO);                                        \
		CHECK(strcmp(db.log, "") == 0);                                                    \
		CHECK(!db.locked);                                                                 \
	} while (0)

TEST(an_empty_database_gets_the_baseline_all_migrations_and_all_files)
{
	reset(0);
	RUNS("49 50 A B ");
	CHECK(db.version == 50);
}

TEST(a_current_database_is_left_alone)
{
	reset(0);
	RUNS("49 50 A B ");
	RUNS("");
}

TEST(the_last_version_of_the_old_chain_is_the_baseline)
{
	reset(49);
	RUNS("50 A B ");
	CHECK(db.version == 50);
}

TEST(a_file_that_changed_makes_all_files_run)
{
	reset(0);
	RUNS("49 50 A B ");
	strcpy(db.hash[1], "other");
	RUNS("A B ");
	RUNS("");
}

TEST(a_new_file_makes_all_files_run)
{
	reset(0);
	RUNS("49 50 A B ");
	db.hash[0][0] = '\0';
	RUNS("A B ");
}

TEST(a_migration_makes_all_files_run)
{
	reset(49);
	strcpy(db.hash[0], "hash-a");
	strcpy(db.hash[1], "hash-b");
	RUNS("50 A B ");
}

TEST(a_database_before_the_baseline_is_refused)
{
	reset(48);
	REFUSED();
	CHECK(strstr(why, "version 48"));
	CHECK(strstr(why, "from version 49 on"));
	CHECK(strstr(why, "commit 3182ec7"));
	CHECK(db.version == 48);
	reset(1);
	REFUSED();
}

TEST(a_database_newer_than_the_collector_is_refused)
{
	reset(51);
	REFUSED();
	CHECK(strstr(why, "version 51"));
	CHECK(strstr(why, "version 50 at most"));
	CHECK(db.version == 51);
}

TEST(every_version_in_between_is_accepted)
{
	CHECK(migrate_accepts(&schema, 0, why) == 0);
	CHECK(migrate_accepts(&schema, 48, why) == -EIO);
	CHECK(migrate_accepts(&schema, 49, why) == 0);
	CHECK(migrate_accepts(&schema, 50, why) == 0);
	CHECK(migrate_accepts(&schema, 51, why) == -EIO);
}

TEST(a_deadlock_is_tried_again)
{
	reset(0);
	db.deadlocks = 3;
	RUNS("49 50 A B ");
	reset(49);
	db.deadlocks = 100;
	REFUSED();
	CHECK(db.deadlocks == 90);
}

TEST(a_failed_file_is_named_with_the_reason)
{
	reset(50);
	db.fails = true;
	CHECK(migrate(NULL, &schema, why) == -EIO);
	CHECK(strcmp(why, "schema api/b.sql failed: the server's reason (SQLSTATE 42P16)") == 0);
	CHECK(!db.locked);
}

TEST(the_embedded_schema_begins_with_the_baseline)
{
	CHECK(migration_table[0].number == 49);
	CHECK(strcmp(migration_table[0].name, "049_baseline") == 0);
	CHECK(strstr(migration_table[0].sql, "create schema api"));
	CHECK(strstr(migration_table[0].sql, "create table incident_part "));
	for (const struct migration *m = migration_table; m->number; m++)
		CHECK(m[1].number == 0 || m[1].number == m->number + 1);
}

TEST(the_embedded_files_have_hashes_and_end_with_the_grants)
{
	const struct schema_file *f = schema_file_table;

	CHECK(strcmp(f->name, "api/10_text.sql") == 0);
	for (; f[1].name; f++)
		CHECK(strlen(f->hash) == 64 && strcmp(f->hash, f[1].hash) != 0 && *f->sql);
	CHECK(strcmp(f->name, "functions/90_role.sql") == 0);
	CHECK(strstr(f->sql, "perform grant_web()"));
}

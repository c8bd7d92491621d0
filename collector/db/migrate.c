// SPDX-License-Identifier: Apache-2.0
#include "collector/db/migrate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/reason.h"
#include "collector/db/columns.h"

enum { TRIES = 10 };

static const char DEADLOCK[] = "40P01";

/* schema_file is emptied with each migration: it may have dropped what the files made. */
static const char tables_sql[] =
	"create table if not exists migration (number int primary key, name text not null,"
	" applied timestamptz not null default now());"
	"create table if not exists schema_file (name text primary key, hash text not null,"
	" applied timestamptz not null default now())";

struct migrate_run {
	struct pg *p;
	const struct schema *schema;
	char *why;
};

typedef int locked_work(struct migrate_run *r, const void *arg);

static uintptr_t last_number(const struct migration *m)
{
	uintptr_t last = 0;

	for (; m->number; m++)
		last = m->number;
	return last;
}

int migrate_accepts(const struct schema *s, uintptr_t found, char why[MIGRATE_WHY])
{
	unsigned long baseline = s->migrations->number, last = last_number(s->migrations);

	if (found > last) {
		snprintf(why, MIGRATE_WHY,
			 "the database has schema version %lu, and this collector supports "
			 "version %lu at most: start a collector that is at least as new as the "
			 "database",
			 (unsigned long)found, last);
		return -EIO;
	}
	if (found > 0 && found < baseline) {
		snprintf(why, MIGRATE_WHY,
			 "the database has schema version %lu, and this collector upgrades from "
			 "version %lu on: start a collector built from commit 3182ec7 once with "
			 "this database, then this one",
			 (unsigned long)found, baseline);
		return -EIO;
	}
	return 0;
}

static void explain(struct migrate_run *r, const char *what)
{
	snprintf(r->why, MIGRATE_WHY, "schema %s failed: %s (SQLSTATE %s)", what, pg_why(r->p),
		 *pg_state(r->p) ? pg_state(r->p) : "unknown");
}

/* "" and 0 are returned where there is no row. */
static int ask_value(struct migrate_run *r, const char *sql, const char *arg, char *out,
		     size_t size)
{
	AUTO(PQclear) PGresult *res = NULL;
	struct pg_args a = { 0 };
	int e;

	if (arg)
		pg_arg_text(&a, arg);
	e = pg_ask(r->p, sql, &a, &res);
	if (e < 0)
		return e;
	snprintf(out, size, "%s", PQntuples(res) > 0 ? PQgetvalue(res, 0, 0) : "");
	return 0;
}

/* The highest number in table migration; 0: an empty database. */
static int read_version(struct migrate_run *r, uintptr_t *out)
{
	char text[24];
	int e = ask_value(r, "select coalesce(max(number), 0)::text from migration", NULL, text,
			  sizeof(text));

	if (e < 0)
		return e;
	*out = strtoul(text, NULL, 10);
	return migrate_accepts(r->schema, *out, r->why);
}

static int record_migration(struct pg *p, const struct migration *m)
{
	struct pg_args a = { 0 };
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)m->number);
	pg_arg_text(&a, number);
	pg_arg_text(&a, m->name);
	return pg_execute(p, "insert into migration (number, name) values ($1::int, $2)", &a);
}

static int apply_migration(struct migrate_run *r, const void *arg)
{
	const struct migration *m = arg;
	uintptr_t version;
	int e = read_version(r, &version);

	if (e < 0 || version >= m->number)
		return e;
	e = pg_do(r->p, m->sql);
	if (e == 0)
		e = pg_do(r->p, "delete from schema_file");
	return e < 0 ? e : record_migration(r->p, m);
}

static int make_tables(struct migrate_run *r, const void *arg UNUSED)
{
	return pg_do(r->p, tables_sql);
}

static int are_current(struct migrate_run *r, bool *out)
{
	char hash[80];

	*out = true;
	for (const struct schema_file *f = r->schema->files; f->name && *out; f++) {
		int e = ask_value(r, "select hash from schema_file where name = $1", f->name, hash,
				  sizeof(hash));

		if (e < 0)
			return e;
		*out = strcmp(hash, f->hash) == 0;
	}
	return 0;
}

static int record_file(struct pg *p, const struct schema_file *f)
{
	struct pg_args a = { 0 };

	pg_arg_text(&a, f->name);
	pg_arg_text(&a, f->hash);
	return pg_execute(
		p,
		"insert into schema_file (name, hash) values ($1, $2) on conflict (name) do "
		"update set hash = excluded.hash, applied = excluded.applied",
		&a);
}

/* All or none: a file that did not change may use a view that did. */
static int apply_files(struct migrate_run *r, const void *arg UNUSED)
{
	uintptr_t version;
	bool current = false;
	int e = read_version(r, &version);

	if (e == 0)
		e = are_current(r, &current);
	if (e < 0 || current)
		return e;
	for (const struct schema_file *f = r->schema->files; e == 0 && f->name; f++) {
		e = pg_do(r->p, f->sql);
		if (e == 0)
			e = record_file(r->p, f);
		if (e < 0)
			explain(r, f->name);
	}
	return e;
}

static int try_once(struct migrate_run *r, locked_work *work, const void *arg)
{
	int e = pg_do(r->p, "begin; " MIGRATE_LOCK);

	if (e == 0)
		e = work(r, arg);
	if (e == 0)
		return pg_commit(r->p);
	pg_rollback(r->p);
	return e;
}

/* Other collectors and consoles read meanwhile, and lock tables in another order. */
static int apply(struct migrate_run *r, locked_work *work, const void *arg, const char *name)
{
	int e, tries = 0;

	do {
		snprintf(r->why, MIGRATE_WHY, "%s", "");
		e = try_once(r, work, arg);
	} while (e < 0 && strcmp(pg_state(r->p), DEADLOCK) == 0 && ++tries < TRIES);
	if (e < 0 && !*r->why)
		explain(r, name);
	return e;
}

int migrate(struct pg *p, const struct schema *schema, char why[MIGRATE_WHY])
{
	struct migrate_run r = { p, schema, why };
	int e = apply(&r, make_tables, NULL, "tables");

	for (const struct migration *m = schema->migrations; e == 0 && m->number; m++)
		e = apply(&r, apply_migration, m, m->name);
	return e < 0 ? e : apply(&r, apply_files, NULL, "files");
}

static int put_reasons(struct pg *p)
{
	static const char sql[] =
		"insert into reason (reason_id, code, en, zh)"
		" select * from unnest($1::smallint[], $2::text[], $3::text[], $4::text[])"
		" on conflict (reason_id) do update"
		" set code = excluded.code, en = excluded.en, zh = excluded.zh";
	static const enum array_type types[] = { ARRAY_INT2, ARRAY_TEXT, ARRAY_TEXT, ARRAY_TEXT };
	AUTO(columns_free) struct columns c = { 0 };
	size_t n;
	const struct reason *table = reason_table(&n);

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		copy_int2(&c.column[0], copy_smallint(table[i].id));
		copy_text(&c.column[1], table[i].code);
		copy_text(&c.column[2], table[i].en);
		copy_text(&c.column[3], table[i].zh);
		columns_row(&c);
	}
	return columns_execute(&c, p, sql);
}

static int put_parts(struct pg *p)
{
	static const char sql[] = "insert into part (part_id, place, code, en, zh)"
				  " select * from unnest($1::smallint[], $2::smallint[], "
				  "$3::text[], $4::text[], $5::text[])"
				  " on conflict (part_id) do update set place = excluded.place,"
				  " code = excluded.code, en = excluded.en, zh = excluded.zh";
	static const enum array_type types[] = { ARRAY_INT2, ARRAY_INT2, ARRAY_TEXT, ARRAY_TEXT,
						 ARRAY_TEXT };
	AUTO(columns_free) struct columns c = { 0 };
	size_t n;
	const struct part_text *table = part_table(&n);

	columns_begin(&c, ARRAY_SIZE(types), types);
	for (size_t i = 0; i < n; i++) {
		copy_int2(&c.column[0], table[i].id);
		copy_int2(&c.column[1], copy_smallint(i));
		copy_text(&c.column[2], table[i].code);
		copy_text(&c.column[3], table[i].en);
		copy_text(&c.column[4], table[i].zh);
		columns_row(&c);
	}
	return columns_execute(&c, p, sql);
}

int migrate_texts(struct pg *p)
{
	int r = put_reasons(p);

	return r < 0 ? r : put_parts(p);
}

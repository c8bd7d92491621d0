// SPDX-License-Identifier: Apache-2.0
#include "collector/db/migrate.h"

#include <stdio.h>
#include <string.h>

#include "lib/wire/reason.h"
#include "collector/db/columns.h"

enum { TRIES = 10 };

static const char DEADLOCK[] = "40P01";

static const char table_sql[] =
	"create table if not exists migration (number int primary key, name text not null,"
	" applied timestamptz not null default now())";

static int applied(struct pg *p, const struct migration *m, bool *out)
{
	AUTO(PQclear) PGresult *res = NULL;
	char sql[80];
	int r;

	snprintf(sql, sizeof(sql), "select from migration where number = %d", (int)m->number);
	r = pg_ask(p, sql, &(struct pg_args){ 0 }, &res);
	if (r < 0)
		return r;
	*out = PQntuples(res) > 0;
	return 0;
}

static int record(struct pg *p, const struct migration *m)
{
	struct pg_args a = { 0 };
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)m->number);
	pg_arg_text(&a, number);
	pg_arg_text(&a, m->name);
	return pg_tell(p, "insert into migration (number, name) values ($1::int, $2)", &a);
}

static int apply_locked(struct pg *p, const struct migration *m)
{
	bool done;
	int r = applied(p, m, &done);

	if (r < 0 || done)
		return r;
	r = pg_do(p, m->sql);
	return r < 0 ? r : record(p, m);
}

static int try_once(struct pg *p, const struct migration *m)
{
	int r = pg_do(p, "begin; " MIGRATE_LOCK);

	if (r == 0)
		r = apply_locked(p, m);
	if (r == 0)
		return pg_commit(p);
	pg_rollback(p);
	return r;
}

/* Other collectors, and consoles, read meanwhile, in an order of their own. */
static int apply(struct pg *p, const struct migration *m)
{
	int r, tries = 0;

	do
		r = try_once(p, m);
	while (r < 0 && strcmp(pg_state(p), DEADLOCK) == 0 && ++tries < TRIES);
	return r;
}

static int make_table(struct pg *p)
{
	int r = pg_do(p, "begin; " MIGRATE_LOCK);

	if (r == 0)
		r = pg_do(p, table_sql);
	if (r == 0)
		return pg_commit(p);
	pg_rollback(p);
	return r;
}

int migrate(struct pg *p, const struct migration *table, const char **what)
{
	int r;

	*what = "table migration";
	r = make_table(p);
	for (const struct migration *m = table; r == 0 && m->number; m++) {
		*what = m->name;
		r = apply(p, m);
	}
	return r;
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
	return columns_tell(&c, p, sql);
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
	return columns_tell(&c, p, sql);
}

int migrate_texts(struct pg *p)
{
	int r = put_reasons(p);

	return r < 0 ? r : put_parts(p);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/command/command_session.h"

#include <stdio.h>

#include "lib/base/log.h"
#include "collector/core/privileges.h"

enum { MAX_COLUMNS = 8 };

int command_ask(struct command_session *s, const char *sql, int n, const char *const value[])
{
	struct pg_args a = { 0 };
	int r;

	for (int i = 0; i < n; i++)
		pg_arg_text(&a, value[i]);
	PQclear(s->res);
	s->res = NULL;
	r = pg_ask(s->pg, sql, &a, &s->res);
	if (r < 0)
		log_err(0, "the database refused the statement: %s", pg_why(s->pg));
	return r;
}

int command_ask1(struct command_session *s, const char *sql, const char *value)
{
	return command_ask(s, sql, 1, &value);
}

const char *command_cell(const struct command_session *s, int row, int column)
{
	return PQgetvalue(s->res, row, column);
}

void command_print(const struct command_session *s)
{
	int n = PQnfields(s->res), width[MAX_COLUMNS] = { 0 };

	for (int c = 0; c < n; c++) {
		width[c] = (int)strlen(PQfname(s->res, c));
		for (int i = 0; i < PQntuples(s->res); i++)
			if ((int)strlen(command_cell(s, i, c)) > width[c])
				width[c] = (int)strlen(command_cell(s, i, c));
	}
	for (int i = -1; i < PQntuples(s->res); i++) {
		for (int c = 0; c < n; c++)
			printf("%-*s%s", c + 1 < n ? width[c] : 0,
			       i < 0 ? PQfname(s->res, c) : command_cell(s, i, c),
			       c + 1 < n ? "  " : "\n");
	}
}

/* A collector that is just starting may still create the tables. */
static int await_tables(struct command_session *s)
{
	for (int i = 0; i < 100; i++) {
		int r = command_ask(s, "select to_regclass('node_key') is not null", 0, NULL);

		if (r < 0)
			return r;
		if (*command_cell(s, 0, 0) == 't')
			return 0;
		usleep(100000);
	}
	return log_err(0, "the database has no tables for this: start a seismo-collector of this "
			  "version, which creates them"),
	       -ENOENT;
}

int command_with(const struct config *c, char *const *arg, int (*run)(struct command_session *s))
{
	struct command_session s = { .arg = arg };
	char err[400];
	int r = privileges_drop(c->user, err, sizeof(err));

	if (r < 0)
		return log_err(0, "%s", err), r;
	s.pg = pg_new(c->database);
	r = pg_connect(s.pg);
	if (r < 0)
		log_err(0, "the database (%s) cannot be reached: %s", c->database, pg_why(s.pg));
	else
		r = await_tables(&s);
	if (r == 0)
		r = run(&s);
	PQclear(s.res);
	pg_free(s.pg);
	return r;
}

int command_verb(const struct config *c, const struct command_verb *verb, size_t n,
		 const char *names)
{
	const char *name = c->command[1] ? c->command[1] : "";
	int args = 0;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(verb[i].name, name) != 0)
			continue;
		while (c->command[2 + args])
			args++;
		if (args >= verb[i].nargs)
			return command_with(c, c->command + 2, verb[i].run);
		return log_err(0, "usage: seismo-collector %s %s %s", c->command[0], name,
			       verb[i].args),
		       -EINVAL;
	}
	return log_err(0, "the commands of seismo-collector %s are %s; --help describes them",
		       c->command[0], names),
	       -EINVAL;
}

size_t command_verbs(const char *group, const struct command_verb *verb, size_t n,
		     struct config_command *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (struct config_command){ group, verb[i].name, verb[i].args, verb[i].help };
	return n;
}

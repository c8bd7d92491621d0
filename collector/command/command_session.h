// SPDX-License-Identifier: Apache-2.0
/*
 * command_session.h - a command that queries the database, as the collector's user. All functions
 * log their errors, so that callers only return them.
 */
#pragma once

#include "collector/core/collector_config.h"
#include "collector/db/pg.h"

struct command_session {
	struct pg *pg;
	PGresult *res; /* of the last query */
	char *const *arg; /* arguments after the verb; NULL ends them */
};

struct command_verb {
	const char *name, *args, *help;
	int nargs; /* the least number of arguments */
	int (*run)(struct command_session *s);
};

/* Runs the one of n verbs that the command line names; names: all verbs, for an error message. */
int command_verb(const struct config *c, const struct command_verb *verb, size_t n,
		 const char *names) MUST_CHECK;
/* The verbs of a group for --help; returns n. */
size_t command_verbs(const char *group, const struct command_verb *verb, size_t n,
		     struct config_command *out);
int command_with(const struct config *c, char *const *arg,
		 int (*run)(struct command_session *s)) MUST_CHECK;
int command_ask(struct command_session *s, const char *sql, int n,
		const char *const value[]) MUST_CHECK;
int command_ask1(struct command_session *s, const char *sql, const char *value) MUST_CHECK;
const char *command_cell(const struct command_session *s, int row, int column);
void command_print(const struct command_session *s); /* as a table with column names */

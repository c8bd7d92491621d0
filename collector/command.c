// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <stdio.h>
#include <sys/random.h>

#include "../lib/log.h"
#include "../lib/text.h"
#include "own_keys.h"
#include "pg.h"
#include "privileges.h"

enum { MAX_COLUMNS = 8, TOKEN_BYTES = 16 };

struct session {
	struct pg *pg;
	PGresult *res; /* of the last question */
	char *const *arg; /* after "node VERB" */
};

#define STATE "(array['waits','approved','revoked','replaced'])[k.state + 1]"
#define KEYS " from node_key k left join node n using (node_id)"
#define NAMED "(k.key = $1 or k.name = $1 or n.name = $1)"

static int ask(struct session *s, const char *sql, int n, const char *const value[])
{
	struct pg_args a = { 0 };
	int r;

	for (int i = 0; i < n; i++)
		pg_arg_text(&a, value[i]);
	PQclear(s->res);
	s->res = NULL;
	r = pg_ask(s->pg, sql, &a, &s->res);
	if (r < 0)
		log_err(0, "the database refuses: %s", pg_why(s->pg));
	return r;
}

static int ask1(struct session *s, const char *sql, const char *value)
{
	return ask(s, sql, 1, &value);
}

static const char *cell(const struct session *s, int row, int column)
{
	return PQgetvalue(s->res, row, column);
}

static void print_table(const struct session *s)
{
	int n = PQnfields(s->res), width[MAX_COLUMNS] = { 0 };

	for (int c = 0; c < n; c++) {
		width[c] = (int)strlen(PQfname(s->res, c));
		for (int i = 0; i < PQntuples(s->res); i++)
			if ((int)strlen(cell(s, i, c)) > width[c])
				width[c] = (int)strlen(cell(s, i, c));
	}
	for (int i = -1; i < PQntuples(s->res); i++) {
		for (int c = 0; c < n; c++)
			printf("%-*s%s", c + 1 < n ? width[c] : 0,
			       i < 0 ? PQfname(s->res, c) : cell(s, i, c), c + 1 < n ? "  " : "\n");
	}
}

static int list(struct session *s)
{
	bool waiting = s->arg[0] && strcmp(s->arg[0], "--waiting") == 0;
	const char *only = waiting ? "0" : "";
	int r = ask1(s,
		     "select " STATE
		     " || case when k.rotate then ', to change' else '' end as state,"
		     " coalesce(n.name, k.name) as node, k.key, k.address as from,"
		     " to_char(greatest(k.last_seen, case when k.state = 1 then n.last_seen end),"
		     " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as \"last seen\","
		     " (select string_agg(t.key || '=' || t.value, ' ' order by t.key) from"
		     " jsonb_each_text(n.tags) t) as tags" KEYS
		     " where $1 = '' or k.state::text = $1 order by k.state, 2, k.first_seen",
		     only);

	if (r == 0)
		print_table(s);
	return r;
}

static int approve(struct session *s)
{
	int r = ask1(s,
		     "select k.key, k.name, (select string_agg(o.key, ' ') from node_key o where"
		     " o.node_id = k.node_id and o.state = 1 and o.key <> k.key)" KEYS
		     " where " NAMED " and (k.state = 0 or k.state <> 1 and k.key = $1)",
		     s->arg[0]);
	char key[64], name[600], old[256];

	if (r < 0)
		return r;
	if (PQntuples(s->res) == 0)
		return log_err(0, "no key of %s waits; seismo-collector node list shows all",
			       s->arg[0]),
		       -ENOENT;
	if (PQntuples(s->res) > 1) {
		log_err(0, "%d keys say that they are %s's; approve the right one by its key:",
			PQntuples(s->res), s->arg[0]);
		return list(&(struct session){ .pg = s->pg, .arg = s->arg + 1 }), -EEXIST;
	}
	snprintf(key, sizeof(key), "%s", cell(s, 0, 0));
	snprintf(name, sizeof(name), "%s", cell(s, 0, 1));
	snprintf(old, sizeof(old), "%s", cell(s, 0, 2));
	r = ask1(s, "select approve($1, 'command')", key);
	if (r == 0)
		printf("%s may send, with key %s%s%s\n", name, key, *old ? "; replaced: " : "",
		       old);
	return r;
}

/* What the statement changed is said in one line each: its first column. */
static int change(struct session *s, const char *sql, const char *what)
{
	int r = ask1(s, sql, s->arg[0]);

	if (r < 0)
		return r;
	for (int i = 0; i < PQntuples(s->res); i++)
		printf("%s: %s\n", cell(s, i, 0), what);
	if (PQntuples(s->res) == 0)
		return log_err(0,
			       "there is no such node or key: %s; seismo-collector node list "
			       "shows all",
			       s->arg[0]),
		       -ENOENT;
	return ask(s, "notify seismo_keys", 0, NULL);
}

static int revoke_keys(struct session *s)
{
	return change(
		s,
		"update node_key u set state = 2, decided = now(), decided_by = 'command'" KEYS
		" where k.key = u.key and u.state <> 2 and " NAMED
		" returning k.name || ' (' || u.key || ')'",
		"is revoked, from now on nothing of it is taken");
}

static int rotate(struct session *s)
{
	return change(s,
		      "update node_key u set rotate = true" KEYS
		      " where k.key = u.key and u.state = 1 and " NAMED
		      " returning k.name || ' (' || u.key || ')'",
		      "its probe is told to change to a new key; node list shows when it did");
}

static int rename_node(struct session *s)
{
	const char *values[] = { s->arg[0], s->arg[1] };
	int r = ask(
		s,
		"update node set name = $2 where name = $1 and not exists (select from node where"
		" name = $2) returning name",
		2, values);

	if (r == 0 && PQntuples(s->res) == 0)
		return log_err(0, "there is no node %s, or there is a node %s already", s->arg[0],
			       s->arg[1]),
		       -ENOENT;
	if (r == 0)
		printf("%s is shown as %s from now on\n", s->arg[0], s->arg[1]);
	return r;
}

static int tag(struct session *s)
{
	for (int i = 1; s->arg[i]; i++) {
		const char *equals = strchr(s->arg[i], '=');
		char key[64];
		const char *values[] = { s->arg[0], key, equals ? equals + 1 : "" };
		int r;

		if (!equals || equals == s->arg[i])
			return log_err(0, "%s is not tag=value", s->arg[i]), -EINVAL;
		snprintf(key, sizeof(key), "%.*s", (int)(equals - s->arg[i]), s->arg[i]);
		r = ask(s,
			"update node set tags = case when $3 = '' then tags - $2::text else tags ||"
			" jsonb_build_object($2::text, $3::text) end where name = $1 returning "
			"name",
			3, values);
		if (r < 0)
			return r;
		if (PQntuples(s->res) == 0)
			return log_err(0,
				       "there is no node %s; seismo-collector node list shows all",
				       s->arg[0]),
			       -ENOENT;
	}
	return 0;
}

static int token(struct session *s)
{
	const char *last = "1h", *uses = "1", *node = "";
	uint8_t bytes[TOKEN_BYTES];
	char text[2 * TOKEN_BYTES + 1];

	for (int i = 0; s->arg[i]; i += 2) {
		const char *flag = s->arg[i], *value = s->arg[i + 1];

		if (!value)
			return log_err(0, "%s needs a value", flag), -EINVAL;
		if (strcmp(flag, "--for") == 0)
			last = value;
		else if (strcmp(flag, "--uses") == 0)
			uses = value;
		else if (strcmp(flag, "--node") == 0)
			node = value;
		else
			return log_err(0, "%s is not known: --for 1h, --uses 1, --node NAME", flag),
			       -EINVAL;
	}
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		die("no random numbers from the kernel");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	{
		const char *values[] = { text, last, uses, node };
		int r = ask(s,
			    "with old as (delete from enrol_token where expires < now()) insert "
			    "into enrol_token (hash, expires, uses_left, node) select"
			    " sha256(convert_to($1, 'UTF8')), now() + $2::interval, $3::int, $4",
			    4, values);

		if (r == 0)
			puts(text);
		return r;
	}
}

static const struct verb {
	const char *name, *args, *help;
	int nargs; /* at least */
	int (*run)(struct session *s);
} verbs[] = {
	{ "list", "[--waiting]", "all keys, with the node that each speaks for", 0, list },
	{ "approve", "NODE|KEY", "let in a key that waits", 1, approve },
	{ "revoke", "NODE|KEY", "take nothing of it any more", 1, revoke_keys },
	{ "rotate", "NODE", "have its probe make itself a new key", 1, rotate },
	{ "name", "NODE NEW", "show it under another name", 2, rename_node },
	{ "tag", "NODE TAG=VALUE...", "set tags; an empty value takes one away", 2, tag },
	{ "token", "[--for 1h] [--uses 1] [--node NAME]",
	  "print a token that lets in probes which are given it", 0, token },
};

/* A collector that is starting makes them now. */
static int await_tables(struct session *s)
{
	for (int i = 0; i < 100; i++) {
		int r = ask(s, "select to_regclass('node_key') is not null", 0, NULL);

		if (r < 0)
			return r;
		if (*cell(s, 0, 0) == 't')
			return 0;
		usleep(100000);
	}
	return log_err(0, "the database has no tables for this: start seismo-collector of this "
			  "version, which makes them"),
	       -ENOENT;
}

static int with_database(const struct config *c, const struct verb *v)
{
	struct session s = { .arg = c->command + 2 };
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
		r = v->run(&s);
	PQclear(s.res);
	pg_free(s.pg);
	return r;
}

static int run_node(const struct config *c)
{
	const char *name = c->command[1] ? c->command[1] : "";

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		int n = 0;

		if (strcmp(verbs[i].name, name) != 0)
			continue;
		while (c->command[2 + n])
			n++;
		if (n >= verbs[i].nargs)
			return with_database(c, &verbs[i]);
		return log_err(0, "it is: seismo-collector node %s %s", name, verbs[i].args),
		       -EINVAL;
	}
	return log_err(0,
		       "seismo-collector node knows list, approve, revoke, rotate, name, tag and "
		       "token; --help says more"),
	       -EINVAL;
}

static int run_key(const struct config *c)
{
	const char *verb = c->command[1] ? c->command[1] : "";
	char err[400] = "", key[KEY_TEXT];
	struct own_keys own = { 0 };
	int r;

	if (!*verb) {
		r = own_keys_open(&own, c->keys, err, sizeof(err));
		if (r == 0)
			printf("%s\n%s%s", own.pair.public, own.next, *own.next ? "\n" : "");
	} else if (strcmp(verb, "next") == 0) {
		r = own_keys_prepare(c->keys, key, err, sizeof(err));
		if (r == 0)
			printf("%s is told to every probe that is connected; when all had the "
			       "time, "
			       "seismo-collector key rotate\n",
			       key);
	} else if (strcmp(verb, "rotate") == 0) {
		r = own_keys_rotate(c->keys, key, err, sizeof(err));
		if (r == 0)
			printf("%s is the key from the next start of this collector on: restart "
			       "it\n",
			       key);
	} else {
		r = -EINVAL;
		snprintf(err, sizeof(err), "seismo-collector key knows next and rotate");
	}
	return r < 0 ? log_err(0, "%s", err), r : 0;
}

int command_run(const struct config *c)
{
	int r = strcmp(c->command[0], "key") == 0 ? run_key(c) : run_node(c);

	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

void command_help(void)
{
	puts("\nCommands, after the flags; they need the database, and key the directory of "
	     "keys:\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  node %-8s %-36s %s\n", verbs[i].name, verbs[i].args, verbs[i].help);
	printf("  key  %-45s %s\n", "", "print the public key, for probes to trust");
	printf("  key  %-45s %s\n", "next", "make the key to go on with, and tell it to probes");
	printf("  key  %-45s %s\n", "rotate", "use it from the next start on");
}

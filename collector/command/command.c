// SPDX-License-Identifier: Apache-2.0
#include "collector/command/command.h"

#include <assert.h>
#include <stdio.h>
#include <sys/random.h>

#include "lib/base/log.h"
#include "lib/config/config_doc.h"
#include "lib/base/text.h"
#include "collector/command/command_incident.h"
#include "collector/command/command_tags.h"
#include "collector/access/own_keys.h"

enum { TOKEN_BYTES = 16 };

#define STATE "(array['waits','approved','revoked','replaced'])[k.state + 1]"
#define KEYS " from node_key k left join node n using (node_id)"
#define NAMED "(k.key = $1 or k.name = $1 or n.name = $1)"

static int list(struct command_session *s)
{
	bool waiting = s->arg[0] && strcmp(s->arg[0], "--waiting") == 0;
	const char *only = waiting ? "0" : "";
	int r = command_ask1(
		s,
		"select " STATE " || case when k.rotate then ', to change' else '' end as state,"
		" coalesce(n.name, k.name) as node, k.key, k.address as from,"
		" case when k.relay <> '' then 'relay of ' || k.relay else '' end || case when "
		"k.claims ="
		" k.relay then '' else ' wants to relay ' || coalesce(nullif(k.claims, ''), "
		"'nothing')"
		" end as relays, to_char(greatest(k.last_seen, case when k.state = 1 then "
		"n.last_seen end),"
		" 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as \"last seen\","
		" (select string_agg(t.key || '=' || t.value, ' ' order by t.key) from"
		" jsonb_each_text(n.tags) t) as tags" KEYS
		" where $1 = '' or k.state::text = $1 order by k.state, 2, k.first_seen",
		only);

	if (r == 0)
		command_print(s);
	return r;
}

static int approve(struct command_session *s)
{
	int r = command_ask1(
		s,
		"select k.key, k.name, (select string_agg(o.key, ' ') from node_key o where"
		" o.node_id = k.node_id and o.state = 1 and o.key <> k.key), k.claims" KEYS
		" where " NAMED
		" and (k.state = 0 or k.claims <> k.relay or k.state <> 1 and k.key = $1)",
		s->arg[0]);
	char key[64], name[600], old[256], claims[130];

	if (r < 0)
		return r;
	if (PQntuples(s->res) == 0)
		return log_err(0,
			       "no key of %s waits for approval; seismo-collector node list shows "
			       "all keys",
			       s->arg[0]),
		       -ENOENT;
	if (PQntuples(s->res) > 1) {
		log_err(0, "%d keys claim to be %s; approve the right one by its key:",
			PQntuples(s->res), s->arg[0]);
		return list(&(struct command_session){ .pg = s->pg, .arg = s->arg + 1 }), -EEXIST;
	}
	snprintf(key, sizeof(key), "%s", command_cell(s, 0, 0));
	snprintf(name, sizeof(name), "%s", command_cell(s, 0, 1));
	snprintf(old, sizeof(old), "%s", command_cell(s, 0, 2));
	snprintf(claims, sizeof(claims), "%s%s", *command_cell(s, 0, 3) ? " all of region " : "",
		 command_cell(s, 0, 3));
	r = command_ask1(s, "select approve($1, 'command')", key);
	if (r == 0)
		printf("%s may send%s, with key %s%s%s\n", name, claims, key,
		       *old ? "; replaced: " : "", old);
	return r;
}

/* Prints a line for each row that the statement changed: its first column. */
static int change(struct command_session *s, const char *sql, const char *what)
{
	int r = command_ask1(s, sql, s->arg[0]);

	if (r < 0)
		return r;
	for (int i = 0; i < PQntuples(s->res); i++)
		printf("%s: %s\n", command_cell(s, i, 0), what);
	if (PQntuples(s->res) == 0)
		return log_err(0,
			       "there is no such node or key: %s; seismo-collector node list "
			       "shows all",
			       s->arg[0]),
		       -ENOENT;
	return command_ask(s, "notify seismo_keys", 0, NULL);
}

static int revoke_keys(struct command_session *s)
{
	return change(
		s,
		"update node_key u set state = 2, decided = now(), decided_by = 'command'" KEYS
		" where k.key = u.key and u.state <> 2 and " NAMED
		" returning k.name || ' (' || u.key || ')'",
		"is revoked; the collector rejects all that it sends");
}

static int rotate(struct command_session *s)
{
	return change(s,
		      "update node_key u set rotate = true" KEYS
		      " where k.key = u.key and u.state = 1 and " NAMED
		      " returning k.name || ' (' || u.key || ')'",
		      "its probe is asked to change to a new key; node list shows when it has");
}

static int rename_node(struct command_session *s)
{
	const char *values[] = { s->arg[0], s->arg[1] };
	int r = command_ask(
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

static int token(struct command_session *s)
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
			return log_err(0,
				       "%s is not a flag of node token: --for 1h, --uses 1, --node "
				       "NAME",
				       flag),
			       -EINVAL;
	}
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		die("no random numbers from the kernel");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	{
		const char *values[] = { text, last, uses, node };
		int r = command_ask(
			s,
			"with old as (delete from enrol_token where expires < now()) insert "
			"into enrol_token (hash, expires, uses_left, node) select"
			" sha256(convert_to($1, 'UTF8')), now() + $2::interval, $3::int, $4",
			4, values);

		if (r == 0)
			puts(text);
		return r;
	}
}

static const struct command_verb verbs[] = {
	{ "list", "[--waiting]", "list all keys, or those that wait for approval", 0, list },
	{ "approve", "NODE|KEY", "approve a key that waits", 1, approve },
	{ "revoke", "NODE|KEY", "reject a key from now on", 1, revoke_keys },
	{ "rotate", "NODE", "make the probe change to a new key", 1, rotate },
	{ "name", "NODE NEW", "show a node under a new name", 2, rename_node },
	{ "tag", "NODE [--since TIME] TAG=VALUE...", "set tags; an empty value removes a tag", 2,
	  command_tag },
	{ "token", "[--for 1h] [--uses 1] [--node NAME]", "print a token that admits probes", 0,
	  token },
};

static const struct config_command others[] = {
	{ "inventory", "", "FILE", "replace the tags of the previous inventory file" },
	{ "key", "", "", "print the public key for the probes" },
	{ "key", "next", "", "create the next key and announce it to the probes" },
	{ "key", "rotate", "", "use the next key from the next start on" },
};

static int run_node(const struct config *c)
{
	return command_verb(c, verbs, ARRAY_SIZE(verbs),
			    "list, approve, revoke, rotate, name, tag and token");
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
			printf("%s is announced to every connected probe; when all have "
			       "connected once, run seismo-collector key rotate\n",
			       key);
	} else if (strcmp(verb, "rotate") == 0) {
		r = own_keys_rotate(c->keys, key, err, sizeof(err));
		if (r == 0)
			printf("%s is the key from the next start of this collector on: "
			       "restart it\n",
			       key);
	} else {
		r = -EINVAL;
		snprintf(err, sizeof(err),
			 "the commands of seismo-collector key are next and rotate");
	}
	return r < 0 ? log_err(0, "%s", err), r : 0;
}

static int run_inventory(const struct config *c)
{
	if (c->command[1] && !c->command[2])
		return command_with(c, c->command + 1, command_inventory);
	return log_err(0, "usage: seismo-collector inventory FILE"), -EINVAL;
}

static void print_help(const char *group)
{
	struct config_command all[COMMANDS];

	config_doc_commands(all, command_list(all), group, stdout);
}

int command_run(const struct config *c)
{
	const char *what = c->command[0];
	int r = 0;

	if (c->command[1] && strcmp(c->command[1], "--help") == 0)
		print_help(what);
	else if (strcmp(what, "key") == 0)
		r = run_key(c);
	else if (strcmp(what, "inventory") == 0)
		r = run_inventory(c);
	else if (strcmp(what, "incident") == 0)
		r = command_incident(c);
	else
		r = run_node(c);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

size_t command_list(struct config_command out[static COMMANDS])
{
	size_t n = command_verbs("node", verbs, ARRAY_SIZE(verbs), out);

	n += command_incident_list(out + n);
	assert(n + ARRAY_SIZE(others) <= COMMANDS);
	memcpy(out + n, others, sizeof(others));
	return n + ARRAY_SIZE(others);
}

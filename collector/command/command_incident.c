// SPDX-License-Identifier: Apache-2.0
#include "collector/command/command_incident.h"

#include <stdio.h>

#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "collector/command/command_session.h"

static int list(struct command_session *s)
{
	const char *all = s->arg[0] && strcmp(s->arg[0], "--all") == 0 ? "t" : "f";
	int r = command_ask1(s,
			     "select id as \"ID\", state, body -> 'text' ->> 'en' as what from"
			     " api.incident where state <> 'merged' and ($1::boolean or state ="
			     " 'open') order by state = 'open' desc, onset desc limit 100",
			     all);

	if (r == 0)
		command_print(s);
	return r;
}

/* Prints the sentence of the incident, then its tables. */
static int show(struct command_session *s)
{
	static const char *const questions[] = {
		"select body -> 'order' -> 'text' ->> 'en' as \"which was first\" from"
		" api.incident_detail where incident_id ="
		" api.id_number($1) and body -> 'order' ->> 'first' is not null",
		"select d ->> 'place' as \"#\", coalesce(d ->> 'node', d ->> 'address') as host,"
		" d ->> 'ranking' as by, round(100 * (d ->> 'share')::numeric) || ' %' as share,"
		" d ->> 'own' as own, d ->> 'edge' as \"on the way\" from api.incident_detail i,"
		" json_array_elements(body -> 'candidates') d where i.incident_id ="
		" api.id_number($1)",
		"select d ->> 'signal' as signal, d ->> 'node' as node, d ->> 'app' as app,"
		" d ->> 'route' as route, d ->> 'reason' as reason, d ->> 'count' as requests,"
		" d ->> 'excess' as \"ms over normal\" from api.incident_detail i,"
		" json_array_elements(body -> 'evidence') d where i.incident_id = "
		"api.id_number($1)",
		"select d ->> 'time' as time, d ->> 'kind' as step, coalesce(d ->> 'who', '') as "
		"by,"
		" d ->> 'detail' as detail from api.incident_detail i,"
		" json_array_elements(body -> 'steps') d where i.incident_id = api.id_number($1)",
	};
	int r = command_ask1(s,
			     "select state || ': ' || (body -> 'text' ->> 'en') from api.incident"
			     " where incident_id = api.id_number($1)",
			     s->arg[0]);

	if (r == 0 && PQntuples(s->res) == 0)
		return log_err(0,
			       "there is no incident %s; seismo-collector incident list shows "
			       "those that are open, with --all the others, too",
			       s->arg[0]),
		       -ENOENT;
	if (r == 0)
		puts(command_cell(s, 0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(questions) && r == 0; i++) {
		r = command_ask1(s, questions[i], s->arg[0]);
		if (r == 0 && PQntuples(s->res) > 0) {
			puts("");
			command_print(s);
		}
	}
	return r;
}

/* The user at the terminal, unless --by names another. */
static const char *decider(struct command_session *s)
{
	const char *user = getenv("SUDO_USER") ? getenv("SUDO_USER") : getenv("USER");

	if (s->arg[1] && strcmp(s->arg[1], "--by") == 0 && s->arg[2]) {
		user = s->arg[2];
		s->arg += 2;
	}
	return user && *user ? user : "command";
}

static int send_decision(struct command_session *s, const char *verb, const char *text,
			 const char *signals)
{
	const char *id = s->arg[0], *by = decider(s);
	const char *values[] = { id, verb, by, text ? text : s->arg[1] ? s->arg[1] : "", signals };
	int r = command_ask(
		s,
		"select status, answer from incident_command($1, $2,"
		" jsonb_build_object('by', $3::text, 'text', $4::text, 'into', $4::text,"
		" 'signals', string_to_array($5, ' ')))",
		5, values);

	if (r < 0)
		return r;
	if (strcmp(command_cell(s, 0, 0), "200") != 0)
		return log_err(0, "%s", command_cell(s, 0, 1)), -EINVAL;
	puts(command_cell(s, 0, 1));
	return 0;
}

static int acknowledge(struct command_session *s)
{
	return send_decision(s, "acknowledge", "", "");
}

static int comment(struct command_session *s)
{
	return send_decision(s, "comment", NULL, "");
}

static int close_it(struct command_session *s)
{
	return send_decision(s, "close", "", "");
}

static int merge(struct command_session *s)
{
	return send_decision(s, "merge", NULL, "");
}

static int split(struct command_session *s)
{
	bool named = strcmp(s->arg[1], "--by") == 0;
	struct buf ids = { 0 };
	int r;

	for (int i = named ? 3 : 1; s->arg[i]; i++) {
		buf_put(&ids, s->arg[i], strlen(s->arg[i]));
		buf_put(&ids, " ", 1);
	}
	buf_put(&ids, "", 1);
	r = send_decision(s, "split", "", (const char *)ids.data);
	buf_free(&ids);
	return r;
}

static const struct command_verb verbs[] = {
	{ "list", "[--all]", "list open incidents, or all", 0, list },
	{ "show", "ID", "show an incident with its evidence", 1, show },
	{ "ack", "ID [--by NAME]", "acknowledge an incident", 1, acknowledge },
	{ "comment", "ID [--by NAME] TEXT", "add a comment to an incident", 2, comment },
	{ "close", "ID [--by NAME]", "close an incident", 1, close_it },
	{ "merge", "ID [--by NAME] INTO", "merge an incident into another", 2, merge },
	{ "split", "ID [--by NAME] SIGNAL...", "move signals to a new incident", 2, split },
};

int command_incident(const struct config *c)
{
	return command_verb(c, verbs, ARRAY_SIZE(verbs),
			    "list, show, ack, comment, close, merge and split");
}

size_t command_incident_list(struct config_command *out)
{
	return command_verbs("incident", verbs, ARRAY_SIZE(verbs), out);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/core/collector_config.h"

#include <stdio.h>

#include "lib/config/config.h"
#include "lib/uplink/endpoints.h"
#include "collector/command/command.h"

#define STR(key) "collector", #key, CONFIG_STR, CONFIG_FIELD(struct config, key)
#define RELAY(key, help)                                                                           \
	{                                                                                          \
		"relay", #key, CONFIG_STR, CONFIG_FIELD(struct config, relay.key), 0, 0, help      \
	}
#define DAYS(key, field, least, help)                                                              \
	{                                                                                          \
		"collector", key, CONFIG_INT, CONFIG_FIELD(struct config, keep.field), least,      \
			3650, help                                                                 \
	}

#define INCIDENTS(key, field, least, most, help)                                                   \
	{                                                                                          \
		"incidents", key, CONFIG_INT, CONFIG_FIELD(struct config, incidents.field), least, \
			most, help                                                                 \
	}

/* Every line is a key of the file and a flag: web_database is --web-database, and of another
 * section than collector's that comes first: --incidents-quiet-s. */
static const struct config_option options[] = {
	{ STR(bind), 1, 0, "where probes connect (tcp://127.0.0.1:7470)" },
	{ STR(web), 1, 0, "host:port of the console (127.0.0.1:8080)" },
	{ STR(database), 1, 0, "PostgreSQL of the role that writes (dbname=seismo user=seismo)" },
	{ STR(web_database), 1, 0, "and of the one that reads (dbname=seismo user=seismo_web)" },
	{ STR(region), 1, 0, "the region this collector's nodes are in (local)" },
	{ STR(keys), 1, 0,
	  "directory of this collector's key pair (/var/lib/seismo-collector/keys)" },
	{ STR(user), 0, 0, "user to become once the ports are bound (stay)" },
	DAYS("keep_days", requests, 1, "days that requests, and what is counted, are kept (30)"),
	DAYS("keep_evidence_days", evidence, 1,
	     "and evidence and stacks, unless what they belong to is kept for less (14)"),
	DAYS("keep_events_days", events, 0, "and events; 0: as keep_days (0)"),
	DAYS("keep_profile_days", profiles, 0, "and profiles; 0: as keep_days (7)"),
	DAYS("keep_samples_days", samples, 0, "and samples as they came; 0: as keep_days (0)"),
	DAYS("keep_1m_days", minutes, 0, "and samples by the minute; 0: as keep_days (90)"),
	DAYS("keep_10m_days", ten_minutes, 0, "and by ten minutes; 0: as keep_days (365)"),
	DAYS("keep_1h_days", hours, 0, "and by the hour; 0: as keep_days (1825)"),
	{ "collector", "node_rows_per_s", CONFIG_INT, CONFIG_FIELD(struct config, node_rows_per_s),
	  1, 1e9, "rows of one node in a second of its clock; more are only counted (20000)" },
	RELAY(to,
	      "global collectors to which all of this region is relayed: tcp://host:port (none)"),
	RELAY(key, "their public keys, or files of such: what seismo-collector key prints there"),
	RELAY(console, "where people reach this region's console: http://host:port (not told)"),
	RELAY(node, "what this relay is called there (relay-REGION)"),
	RELAY(keys, "directory of the relay's own key pair (relay in that of the keys)"),
	RELAY(token, "file with a token that lets it in there (none)"),
	INCIDENTS("events", least_events, 1, 1e6, "abnormal requests that are a signal (5)"),
	INCIDENTS("percent", least_percent, 0, 100, "of the requests of their route (2)"),
	INCIDENTS("excess_ms", least_excess_ms, 0, 3600000,
		  "by so much slower than is normal, on the average (20)"),
	INCIDENTS("window_s", window_s, 30, 600, "seconds in which these are counted (300)"),
	INCIDENTS("join_s", join_s, 1, 86400,
		  "and after which a signal joins an incident no more (300)"),
	INCIDENTS("quiet_s", quiet_s, 1, 86400, "without a signal, and an incident is over (600)"),
	INCIDENTS("reopen_s", reopen_s, 0, 86400, "after that it may go on again (1800)"),
};

static const struct word {
	const char *flag, *help;
	enum config_task task;
} words[] = {
	{ "--check-config", "read the configuration, say what is wrong with it, and end",
	  CONFIG_CHECK },
	{ "--help", "this text", CONFIG_HELP },
	{ "--version", "the version", CONFIG_TELL_VERSION },
	{ "node", "commands on nodes, see below", CONFIG_COMMAND },
	{ "inventory", "what nodes are, from a file, see below", CONFIG_COMMAND },
	{ "incident", "commands on incidents, see below", CONFIG_COMMAND },
	{ "key", "commands on this collector's key, see below", CONFIG_COMMAND },
};

static const struct config defaults = {
	.bind = "tcp://127.0.0.1:7470",
	.web = "127.0.0.1:8080",
	.database = "dbname=seismo user=seismo",
	.web_database = "dbname=seismo user=seismo_web",
	.region = "local",
	.keys = "/var/lib/seismo-collector/keys",
	.keep = { .requests = 30,
		  .evidence = 14,
		  .profiles = 7,
		  .minutes = 90,
		  .ten_minutes = 365,
		  .hours = 1825 },
	.node_rows_per_s = 20000,
	.incidents = { .least_events = 5,
		       .least_percent = 2,
		       .least_excess_ms = 20,
		       .window_s = 300,
		       .join_s = 300,
		       .quiet_s = 600,
		       .reopen_s = 1800 },
};

static void flag_of(const struct config_option *o, char flag[static 32])
{
	bool own = strcmp(o->section, "collector") == 0;

	snprintf(flag, 32, "--%s%s%s", own ? "" : o->section, own ? "" : "-", o->key);
	for (char *c = flag; *c; c++)
		if (*c == '_')
			*c = '-';
}

static const struct config_option *find(const char *arg)
{
	size_t len = strcspn(arg, "=");
	char flag[32];

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		flag_of(&options[i], flag);
		if (strlen(flag) == len && strncmp(arg, flag, len) == 0)
			return &options[i];
	}
	return NULL;
}

/* "--key value" or "--key=value" at argv[*i]. */
static int take_flag(char *const argv[], int *i, struct config *c, char *err, size_t errlen)
{
	const struct config_option *o = find(argv[*i]);
	const char *value = strchr(argv[*i], '=');
	char what[400];
	int r;

	if (!o) {
		snprintf(err, errlen, "%s is not a flag of seismo-collector; --help names them all",
			 argv[*i]);
		return -EINVAL;
	}
	value = value ? value + 1 : argv[++*i];
	if (!value) {
		snprintf(err, errlen, "%s needs a value: %s", argv[*i - 1], o->help);
		return -EINVAL;
	}
	r = config_set(options, ARRAY_SIZE(options), c, o->section, o->key, value, what,
		       sizeof(what));
	if (r < 0)
		snprintf(err, errlen, "flags: %s", what);
	return r;
}

static const struct word *find_word(const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(arg, words[i].flag) == 0)
			return &words[i];
	return NULL;
}

/* What --config names, wherever it stands: flags win over the file. */
static int load_file(char *const argv[], struct config *c, char *err, size_t errlen)
{
	int r = 0;

	for (int i = 1; argv[i] && r == 0; i++) {
		if (strcmp(argv[i], "--config") != 0)
			continue;
		if (!argv[++i]) {
			snprintf(err, errlen, "--config needs the path of a file");
			return -EINVAL;
		}
		r = config_load(options, ARRAY_SIZE(options), c, argv[i], err, errlen);
	}
	return r;
}

static int check_relay(const struct config *c, char *err, size_t errlen)
{
	const struct relay_options *r = &c->relay;
	struct endpoints to;

	if (!*r->to)
		return 0;
	if (endpoints_parse(r->to, &to) < 0)
		return config_refuse(err, errlen, "relay.to: %s is not tcp://host:port", r->to);
	if (!*r->key)
		return config_refuse(err, errlen,
				     "relay.key is missing: the public key of the collector at %s",
				     r->to);
	if (*r->console && strncmp(r->console, "http://", 7) != 0 &&
	    strncmp(r->console, "https://", 8) != 0)
		return config_refuse(err, errlen,
				     "relay.console: %s begins with no http:// or https://",
				     r->console);
	return 0;
}

int config_read(int argc, char *const argv[], struct config *c, enum config_task *task, char *err,
		size_t errlen)
{
	struct endpoint unused;
	int r;

	*task = CONFIG_RUN;
	*c = defaults;
	r = load_file(argv, c, err, errlen);
	for (int i = 1; i < argc && r == 0; i++) {
		const struct word *w = find_word(argv[i]);

		if (strcmp(argv[i], "--config") == 0)
			i++;
		else if (!w)
			r = take_flag(argv, &i, c, err, errlen);
		else
			*task = w->task;
		if (*task == CONFIG_COMMAND)
			c->command = argv + i;
		if (*task == CONFIG_HELP || *task == CONFIG_TELL_VERSION || *task == CONFIG_COMMAND)
			return r;
	}
	if (r == 0)
		r = check_relay(c, err, errlen);
	return r < 0 ? r : endpoint_parse(c->bind, &unused, err, errlen);
}

void config_help(void)
{
	char flag[32];

	printf("seismo-collector: stores what probes send and serves the console\n\n"
	       "  %-22s %s\n",
	       "--config FILE",
	       "read FILE first: the same keys, in sections [collector], [relay] and [incidents]");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		flag_of(&options[i], flag);
		printf("  %-22s %s\n", flag, options[i].help);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		printf("  %-22s %s\n", words[i].flag, words[i].help);
	command_help();
}

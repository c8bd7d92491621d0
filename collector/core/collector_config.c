// SPDX-License-Identifier: Apache-2.0
#include "collector/core/collector_config.h"

#include <ctype.h>
#include <stdio.h>

#include "lib/config/config_doc.h"
#include "lib/uplink/endpoints.h"

#define OF_COLLECTOR(key, type) "collector", #key, type, CONFIG_FIELD(struct config, key)
#define OF_RELAY(key, type) "relay", #key, type, CONFIG_FIELD(struct config, relay.key)
#define KEEP(key, field) "collector", key, CONFIG_INT, CONFIG_FIELD(struct config, keep.field)
#define INCIDENTS(key, field)                                                                      \
	"incidents", key, CONFIG_INT, CONFIG_FIELD(struct config, incidents.field)

static const struct config_section sections[] = {
	{ "collector", "Addresses, database and retention", NULL },
	{ "relay", "Relay to a global collector",
	  "A regional collector can relay what it stores to a global collector, whose console then "
	  "shows all regions: abnormal requests, events, stacks, request counts, and nodes with "
	  "their tags. Samples and profiles stay in the region. Data that is not relayed yet waits "
	  "in the table outbox of the region's database, for at most keep_days." },
	{ "incidents", "Incidents",
	  "A signal is a group of abnormal requests with the same node, app, route and kind of "
	  "reason that reaches events, percent and excess_ms within window_s. Signals that belong "
	  "together form an incident." },
};

static const struct config_option options[] = {
	{
		OF_COLLECTOR(bind, CONFIG_STR),
		.min = 1,
		.initial = "tcp://127.0.0.1:7470",
		.arg = "URL",
		.help = "address for probes",
		.more = "The form is tcp://ADDRESS:PORT. The collector accepts data only from "
			"probes whose key is approved; see `seismo-collector node list`.",
	},
	{
		OF_COLLECTOR(web, CONFIG_STR),
		.min = 1,
		.initial = "127.0.0.1:8080",
		.arg = "ADDRESS",
		.help = "console's HOST:PORT, unix:PATH, or off",
		.more = "The console and its API have no login, so HOST:PORT must be a loopback "
			"address. unix:PATH is a Unix socket, whose mode and group decide which "
			"users may connect. With off there is no console, no /healthz and no "
			"/metrics.",
	},
	{
		OF_COLLECTOR(database, CONFIG_STR),
		.min = 1,
		.initial = "dbname=seismo user=seismo",
		.help = "database connection of the collector",
		.more = "A libpq connection string for the role that owns the database, creates "
			"the tables and writes.",
	},
	{
		OF_COLLECTOR(web_database, CONFIG_STR),
		.min = 1,
		.initial = "dbname=seismo user=seismo_web",
		.help = "console's database connection",
		.more = "A libpq connection string for a role that may only read the views in the "
			"schema api.",
	},
	{
		OF_COLLECTOR(region, CONFIG_STR),
		.min = 1,
		.initial = "local",
		.arg = "NAME",
		.help = "region of this collector's nodes",
	},
	{
		OF_COLLECTOR(keys, CONFIG_STR),
		.min = 1,
		.initial = "/var/lib/seismo-collector/keys",
		.arg = "DIR",
		.help = "directory of the key pair",
		.more = "The collector creates the key pair at its first start. Probes identify "
			"the collector by it; they need the public key, which is in collector.pub.",
	},
	{
		OF_COLLECTOR(user, CONFIG_STR),
		.none = "no change",
		.arg = "NAME",
		.help = "user to become after the ports are bound",
		.more = "For a collector that is started as root. The change is permanent.",
	},
	{
		KEEP("keep_days", requests),
		.min = 1,
		.max = 3650,
		.unit = "days",
		.initial = "30",
		.help = "retention of requests and request counts",
		.more = "Older days are dropped.",
	},
	{
		KEEP("keep_evidence_days", evidence),
		.min = 1,
		.max = 3650,
		.unit = "days",
		.initial = "14",
		.help = "retention of evidence and stacks",
		.more = "Evidence is what the probe observed while a request was slow (blocks, "
			"stacks). It is never kept for longer than its request or event; without "
			"it, the request itself stays.",
	},
	{
		KEEP("keep_events_days", events),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "0",
		.help = "retention of events; 0: same as requests",
	},
	{
		KEEP("keep_profile_days", profiles),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "7",
		.help = "retention of CPU profiles; 0: same as requests",
	},
	{
		KEEP("keep_samples_days", samples),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "0",
		.help = "retention of raw samples; 0: same as requests",
		.more = "A packed sample takes about one byte.",
	},
	{
		KEEP("keep_1m_days", minutes),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "90",
		.help = "retention of samples per minute; 0: same as requests",
		.more = "For each series, the count, minimum, maximum and sum of each minute are "
			"kept after the raw samples expire.",
	},
	{
		KEEP("keep_10m_days", ten_minutes),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "365",
		.help = "retention of samples per 10 min; 0: same as requests",
	},
	{
		KEEP("keep_1h_days", hours),
		.min = 0,
		.max = 3650,
		.unit = "days",
		.initial = "1825",
		.help = "retention of samples per hour; 0: same as requests",
	},
	{
		OF_COLLECTOR(node_rows_per_s, CONFIG_INT),
		.min = 1,
		.max = 1e9,
		.unit = "rows/s",
		.initial = "20000",
		.help = "limit of rows to store of each node",
		.more = "The seconds are those of the node's clock. Rows above the limit are only "
			"counted; the console shows the count.",
	},
	{
		OF_COLLECTOR(max_disk, CONFIG_STR),
		.min = 1,
		.initial = "80%",
		.arg = "SIZE",
		.help = "limit of the database's size",
		.more = "A share of the database's file system (80%), a size (200GB, also KB, MB, "
			"TB), or off. Near it the collector drops data: profiles, raw samples, "
			"request counts, rows of the commonest group, then the oldest hours, "
			"never the newest hour. At the limit, or when the file system has less "
			"than 512 MiB free (an eighth of a smaller one), batches wait on their "
			"nodes. Page /storage shows it.",
	},
	{
		OF_COLLECTOR(database_dir, CONFIG_STR),
		.none = "found",
		.arg = "DIR",
		.help = "directory on the database's file system",
		.more = "Only its free space is read. The collector finds the directory itself if "
			"the database is on this host, is reached by a local socket, and its data "
			"directory can be named; otherwise a share of max_disk needs this option.",
	},
	{
		OF_COLLECTOR(web_mode, CONFIG_STR),
		.min = 1,
		.initial = "0660",
		.arg = "MODE",
		.help = "mode of the console's Unix socket, in octal",
		.more = "It applies to web = unix:PATH.",
	},
	{
		OF_COLLECTOR(web_group, CONFIG_STR),
		.none = "no change",
		.arg = "NAME",
		.help = "group of the console's Unix socket",
		.more = "It applies to web = unix:PATH. The collector must start as root or be a "
			"member of the group.",
		.example = "adm",
	},
	{
		OF_COLLECTOR(web_actions, CONFIG_BOOL),
		.initial = "on",
		.help = "whether the console may change incidents",
		.more = "With off the console is read-only: the API answers actions with status "
			"403. `seismo-collector incident` still works.",
	},
	{
		OF_RELAY(to, CONFIG_STR),
		.arg = "URL",
		.help = "global collector address or comma-separated list",
		.more = "The form is tcp://HOST:PORT.",
		.example = "tcp://global.example:7470",
	},
	{
		OF_RELAY(key, CONFIG_STR),
		.arg = "KEY",
		.help = "public keys of the global collectors, or files of keys",
		.more = "`seismo-collector key` prints the key there.",
		.example = "/etc/seismo/global.pub",
	},
	{
		OF_RELAY(console, CONFIG_STR),
		.arg = "URL",
		.help = "URL of this region's console",
		.more = "Links of the global console lead there.",
		.example = "http://eu.example:8080",
	},
	{
		OF_RELAY(node, CONFIG_STR),
		.none = "relay-REGION",
		.arg = "NAME",
		.help = "name of this relay at the global collector",
		.more = "The global collector admits a relay like a node: by `seismo-collector "
			"node approve`, or by a token that was made for this name. Regions must "
			"have different names, and so must the nodes of all regions.",
		.example = "relay-local",
	},
	{
		OF_RELAY(keys, CONFIG_STR),
		.none = "KEYS/relay",
		.arg = "DIR",
		.help = "directory of the relay's key pair",
	},
	{
		OF_RELAY(token, CONFIG_STR),
		.arg = "FILE",
		.help = "file with an enrollment token",
	},
	{
		INCIDENTS("events", least_events),
		.min = 1,
		.max = 1e6,
		.unit = "requests",
		.initial = "5",
		.help = "abnormal requests needed for a signal",
	},
	{
		INCIDENTS("percent", least_percent),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "2",
		.help = "share of the route's requests that makes a signal",
		.more = "Five times this share is also enough if it is reached within the time "
			"since the abnormal requests increased, and for at least ten seconds.",
	},
	{
		INCIDENTS("excess_ms", least_excess_ms),
		.min = 0,
		.max = 3600000,
		.unit = "ms",
		.initial = "20",
		.help = "mean delay beyond normal that makes a signal",
		.more = "It does not apply to failed requests.",
	},
	{
		INCIDENTS("window_s", window_s),
		.min = 30,
		.max = 600,
		.unit = "s",
		.initial = "300",
		.help = "period over which a signal is counted",
	},
	{
		INCIDENTS("join_s", join_s),
		.min = 1,
		.max = 86400,
		.unit = "s",
		.initial = "300",
		.help = "gap up to which a signal joins an incident",
		.more = "A signal joins an incident of its node, or of a node at most two calls "
			"away, if that incident had a signal within this time.",
	},
	{
		INCIDENTS("quiet_s", quiet_s),
		.min = 1,
		.max = 86400,
		.unit = "s",
		.initial = "600",
		.help = "time without a signal that ends an incident",
	},
	{
		INCIDENTS("reopen_s", reopen_s),
		.min = 0,
		.max = 86400,
		.unit = "s",
		.initial = "1800",
		.help = "time after the end in which a signal reopens it",
		.more = "The signal must be of one of the incident's nodes.",
	},
};

static const struct config_word words[] = {
	{ "--check-config", "check the configuration, report errors, and exit", NULL, CONFIG_CHECK,
	  false },
	{ "--help", "print this text; FORMAT: " CONFIG_DOC_FORMATS, "[=FORMAT]", CONFIG_HELP,
	  true },
	{ "--version", "print the version", NULL, CONFIG_PRINT_VERSION, true },
	{ "node", NULL, NULL, CONFIG_COMMAND, true },
	{ "inventory", NULL, NULL, CONFIG_COMMAND, true },
	{ "incident", NULL, NULL, CONFIG_COMMAND, true },
	{ "key", NULL, NULL, CONFIG_COMMAND, true },
};

static const char *const usage[] = { "[OPTION...]", "[OPTION...] COMMAND [ARGUMENT...]", NULL };

static const struct config_note notes[] = {
	{ "Exit status", "0 on success, 1 on an error, which is logged to standard error." },
	{ "Files", "    /etc/seismo/collector.conf        configuration\n"
		   "    /var/lib/seismo-collector/keys    key pair of this collector\n" },
	{ "Examples", "Check a configuration file:\n\n"
		      "    seismo-collector --check-config --config /etc/seismo/collector.conf\n\n"
		      "Print a token that admits 200 probes within an hour:\n\n"
		      "    seismo-collector node token --for 1h --uses 200\n" },
	{ "See also", "`seismo-collector.conf`(5), `seismo-probe`(8), `seismo-replay`(1)" },
};

const struct config_program collector_program = {
	.name = "seismo-collector",
	.version = COLLECTOR_VERSION,
	.summary = "stores the data of probes, correlates incidents and serves the console",
	.manual = "8",
	.usage = usage,
	.about = "`seismo-collector` receives batches from `seismo-probe`, stores them in "
		 "PostgreSQL, correlates incidents and serves the web console and its API.\n\n"
		 "Its commands approve and revoke nodes, decide on incidents, and manage the key "
		 "of the collector. They use the database of the options, except for key, which "
		 "uses the directory of keys.\n\n"
		 "Each option of the configuration file is also a flag; `seismo-collector.conf`(5) "
		 "describes them in full.",
	.file = "/etc/seismo/collector.conf",
	.main_section = "collector",
	.sections = sections,
	.nsections = ARRAY_SIZE(sections),
	.options = options,
	.noptions = ARRAY_SIZE(options),
	.words = words,
	.nwords = ARRAY_SIZE(words),
	.notes = notes,
	.nnotes = ARRAY_SIZE(notes),
};

static int check_web(struct config *c, char *err, size_t errlen)
{
	char *end;
	unsigned long mode = strtoul(c->web_mode, &end, 8);

	if (!isdigit((unsigned char)*c->web_mode) || *end || mode > 0777)
		return config_refuse(err, errlen,
				     "collector.web_mode: %s is not a mode in octal; give one like "
				     "0660",
				     c->web_mode);
	c->web_socket_mode = (unsigned)mode;
	return 0;
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
				     "relay.console: %s does not begin with http:// or https://",
				     r->console);
	return 0;
}

int config_read(int argc, char *const argv[], struct config *c, enum config_task *task, char *err,
		size_t errlen)
{
	struct config_args args = { .task = CONFIG_RUN };
	struct endpoint unused;
	int r;

	memset(c, 0, sizeof(*c));
	r = config_args_read(&collector_program, argc, argv, c, &args, err, errlen);
	*task = (enum config_task)args.task;
	c->help = args.format;
	c->command = args.rest;
	if (r < 0 || (*task != CONFIG_RUN && *task != CONFIG_CHECK))
		return r;
	if (disk_limit_parse(c->max_disk, &c->disk) < 0)
		return config_refuse(err, errlen,
				     "max_disk: %s is not a share like 80%%, a size like 200GB, or "
				     "off",
				     c->max_disk);
	r = check_relay(c, err, errlen);
	if (r == 0)
		r = check_web(c, err, errlen);
	return r < 0 ? r : endpoint_parse(c->bind, &unused, err, errlen);
}

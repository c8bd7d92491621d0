// SPDX-License-Identifier: Apache-2.0
#include "probe/core/config.h"

#include <ctype.h>
#include <stdio.h>

#include "lib/daemon/config.h"
#include "lib/uplink/endpoints.h"
#include "probe/request/nginx/nginx.h"
#include "probe/core/on_demand.h"
#include "probe/request/kernel/request_kernel.h"

/* Every line is a key of the file and a flag: rows_per_s is --rows-per-s. */
static const struct config_option options[] = {
	{ "probe", "node", CONFIG_STR, CONFIG_FIELD(struct probe_config, node), 1, 0,
	  "name of this node in tables and links (the host's name)" },
	{ "probe", "collector", CONFIG_STR, CONFIG_FIELD(struct probe_config, collector), 1, 0,
	  "tcp://host:port to send to, or several: one that answers (tcp://127.0.0.1:7470)" },
	{ "probe", "collector_key", CONFIG_STR, CONFIG_FIELD(struct probe_config, collector_key), 1,
	  0, "its public key, or a file of public keys; several if need be (none)" },
	{ "probe", "keys", CONFIG_STR, CONFIG_FIELD(struct probe_config, keys), 1, 0,
	  "directory of this node's key pair, made at first start (/var/lib/seismo/keys)" },
	{ "probe", "token", CONFIG_STR, CONFIG_FIELD(struct probe_config, token), 0, 0,
	  "file with a token that lets this node in without a person (none)" },
	{ "probe", "spool_mb", CONFIG_INT, CONFIG_FIELD(struct probe_config, spool_mb), 1, 1024,
	  "memory for what is not stored yet, in MiB (8)" },
	{ "probe", "spool", CONFIG_STR, CONFIG_FIELD(struct probe_config, spool), 0, 0,
	  "directory for what waits longer than 5 s for a collector, kept over a restart (none)" },
	{ "probe", "spool_disk_mb", CONFIG_INT, CONFIG_FIELD(struct probe_config, spool_disk_mb), 1,
	  65536, "of files there, in MiB; then the oldest are dropped, metrics first (256)" },
	{ "probe", "state", CONFIG_STR, CONFIG_FIELD(struct probe_config, state), 0, 0,
	  "file that keeps what is normal here over a restart (none)" },
	{ "probe", "budget_percent", CONFIG_REAL, CONFIG_FIELD(struct probe_config, budget_percent),
	  0, 100, "of processors, for one source; above it does less; 0: any (1)" },
	{ "probe", "budget_look_s", CONFIG_INT, CONFIG_FIELD(struct probe_config, budget_look_s), 2,
	  3600, "seconds over which what a source costs is summed up (20)" },
	{ "probe", "programs", CONFIG_STR, CONFIG_FIELD(struct probe_config, programs), 0, 0,
	  "directory of kernel programs of your own, each with what it tells (none)" },
	{ "probe", "on_demand", CONFIG_STR, CONFIG_FIELD(struct probe_config, on_demand), 0, 0,
	  "sources that cost who does what they are about, with commas, or all (none)" },
	{ "request", "slow_ms", CONFIG_REAL, CONFIG_FIELD(struct probe_config, slow_ms), -1, 3.6e6,
	  "a slower request is abnormal; -1: by each route's own limit (-1)" },
	{ "request", "query_string", CONFIG_BOOL, CONFIG_FIELD(struct probe_config, query_string),
	  0, 0, "let query strings leave this node (no)" },
	{ "request", "rows_per_s", CONFIG_INT, CONFIG_FIELD(struct probe_config, rows_per_s), 0,
	  1e6, "abnormal requests told in a second; more are only counted (5000)" },
	{ "request", "scope", CONFIG_STR, CONFIG_FIELD(struct probe_config, scope), 0, 0,
	  "cgroup=PATH: only tasks in and below that cgroup2 directory (all)" },
	{ "request", "ring_mb", CONFIG_INT, CONFIG_FIELD(struct probe_config, ring_mb), 1, 256,
	  "the kernel's ring for requests, in MiB, a power of two (4)" },
	{ "request", "hooks", CONFIG_STR, CONFIG_FIELD(struct probe_config, hooks), 1, 0,
	  "sockets (kernel 6.3), syscalls (5.15), or auto: the first that works (auto)" },
	{ "request", "split", CONFIG_BOOL, CONFIG_FIELD(struct probe_config, split), 0, 0,
	  "tell where the time of a request went, by hooks on the scheduler (yes)" },
	{ "request", "nginx", CONFIG_STR, CONFIG_FIELD(struct probe_config, nginx), 1, 0,
	  "what nginx itself says of its requests: auto, on (at any cost), off (auto)" },
	{ "request", "conns", CONFIG_INT, CONFIG_FIELD(struct probe_config, conns), 1, 1e6,
	  "connections followed at a time; requests on more are only counted (65536)" },
	{ "files", "slow_file_ms", CONFIG_REAL, CONFIG_FIELD(struct probe_config, slow_file_ms), 0,
	  3.6e6, "a read, write or sync of a file that takes as long is told; 0: none (10)" },
	{ "files", "slow_file_clock", CONFIG_STR,
	  CONFIG_FIELD(struct probe_config, slow_file_clock), 1, 0,
	  "they are looked for by the kernel's tick, a timer, or auto: the tick if it serves "
	  "(auto)" },
	{ "files", "slow_files_per_s", CONFIG_INT,
	  CONFIG_FIELD(struct probe_config, slow_files_per_s), 0, 1e6,
	  "slow file operations told in a second; more are only counted (100)" },
	{ "files", "slow_files_per_min", CONFIG_INT,
	  CONFIG_FIELD(struct probe_config, slow_files_per_min), 0, 1e6,
	  "likewise in a minute, on the average of ten; 0: no such limit (60)" },
	{ "profile", "profile", CONFIG_INT, CONFIG_FIELD(struct probe_config, profile), 0, 99,
	  "times a second that each CPU is looked at for what runs there; 0: never (19)" },
	{ "kernel", "stuck_s", CONFIG_REAL, CONFIG_FIELD(struct probe_config, stuck_s), 0, 86400,
	  "a task in uninterruptible sleep that does not move for so many s is told; 0: none "
	  "(10)" },
	{ "kernel", "cpu_wait_share", CONFIG_INT, CONFIG_FIELD(struct probe_config, cpu_wait_share),
	  0, 100,
	  "while tasks wait for a CPU, for so much of the time, in %, each wait is timed; 0: never "
	  "(10)" },
	{ "stalls", "cpu_stall_pct", CONFIG_INT, CONFIG_FIELD(struct probe_config, cpu_stall_pct),
	  0, 100,
	  "tasks waited for a CPU in as much of the time, in %, to be told; 0: never (40)" },
	{ "stalls", "io_stall_pct", CONFIG_INT, CONFIG_FIELD(struct probe_config, io_stall_pct), 0,
	  100, "likewise for a disk (30)" },
	{ "stalls", "memory_stall_pct", CONFIG_INT,
	  CONFIG_FIELD(struct probe_config, memory_stall_pct), 0, 100, "likewise for memory (15)" },
};

static const struct word {
	const char *flag, *help;
	enum probe_task task;
} words[] = {
	{ "--check-config", "read the configuration, say what is wrong with it, and end",
	  PROBE_CHECK },
	{ "doctor", "say what this node can give a probe and what to do about the rest, and end",
	  PROBE_DOCTOR },
	{ "--help", "this text", PROBE_HELP },
	{ "--version", "the version", PROBE_TELL_VERSION },
};

static void flag_of(const struct config_option *o, char flag[static 32])
{
	snprintf(flag, 32, "--%s", o->key);
	for (char *c = flag; *c; c++)
		if (*c == '_')
			*c = '-';
}

static void set_defaults(struct probe_config *c)
{
	*c = (struct probe_config){
		.collector = "tcp://127.0.0.1:7470",
		.keys = "/var/lib/seismo/keys",
		.spool_mb = 6, /* with what a quiet probe takes itself below 16 */
		.spool_disk_mb = 256,
		.budget_percent = 1,
		.budget_look_s = 20,
		.slow_ms = -1,
		.rows_per_s = 5000,
		.ring_mb = 4,
		.hooks = "auto",
		.nginx = "auto",
		.conns = 65536,
		.split = true,
		.slow_file_ms = 10,
		.slow_file_clock = "auto",
		.slow_files_per_s = 100,
		.slow_files_per_min = 60,
		.profile = 19,
		.stuck_s = 10,
		.cpu_wait_share = 10,
		.cpu_stall_pct = 40,
		.io_stall_pct = 30,
		.memory_stall_pct = 15,
	};
	if (gethostname(c->node, sizeof(c->node) - 1) < 0)
		c->node[0] = 0;
}

/* The option that arg names, and its value: "--key value", "--key=value", "--yes-or-no" alone. */
static const struct config_option *find(const char *arg, const char *next, const char **value,
					bool *uses_next)
{
	char flag[32];
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		flag_of(&options[i], flag);
		len = strlen(flag);
		if (strncmp(arg, flag, len) != 0 || (arg[len] && arg[len] != '='))
			continue;
		*uses_next = !arg[len] && options[i].type != CONFIG_BOOL;
		*value = arg[len] ? arg + len + 1 : *uses_next ? next : "yes";
		return &options[i];
	}
	return NULL;
}

/* "[request] ring_mb = ..." is how a file is spoken of; here it was a flag. */
static int set_flag(struct probe_config *c, const struct config_option *o, const char *value,
		    char *err, size_t errlen)
{
	char what[400], flag[32];
	size_t skip = strlen(o->section) + strlen(o->key) + strlen("[] ");
	int r;

	flag_of(o, flag);
	if (!value) {
		snprintf(err, errlen, "%s needs a value: %s", flag, o->help);
		return -EINVAL;
	}
	r = config_set(options, ARRAY_SIZE(options), c, o->section, o->key, value, what,
		       sizeof(what));
	if (r < 0)
		snprintf(err, errlen, "%s%s", flag, what + (strlen(what) > skip ? skip : 0));
	return r;
}

/* argv[*i] and, if it takes one, its value behind it. */
static int take_flag(int argc, char *const argv[], int *i, struct probe_config *c, char *err,
		     size_t errlen)
{
	const char *value, *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	bool uses_next;
	const struct config_option *o = find(argv[*i], next, &value, &uses_next);

	if (!o) {
		snprintf(err, errlen, "%s is not a flag of seismo-probe; --help names them all",
			 argv[*i]);
		return -EINVAL;
	}
	*i += uses_next;
	return set_flag(c, o, value, err, errlen);
}

static const struct word *find_word(const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(arg, words[i].flag) == 0)
			return &words[i];
	return NULL;
}

/* What --config names, wherever it stands: flags win over the file. */
static int load_file(int argc, char *const argv[], struct probe_config *c, char *err, size_t errlen)
{
	int r;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--config") != 0)
			continue;
		if (i + 1 == argc) {
			snprintf(err, errlen, "--config needs the path of a file");
			return -EINVAL;
		}
		r = config_load(options, ARRAY_SIZE(options), c, argv[++i], err, errlen);
		if (r < 0)
			return r;
	}
	return 0;
}

static int refuse(char *err, size_t errlen, const char *what, const char *value,
		  const char *allowed)
{
	snprintf(err, errlen, "%s \"%s\": %s", what, value, allowed);
	return -EINVAL;
}

/* What a type and a range cannot say. */
static int check(const struct probe_config *c, char *err, size_t errlen)
{
	struct endpoints e;
	char ring[24], named[256];
	int r = endpoints_parse(c->collector, &e);

	if (!c->node[0])
		return refuse(err, errlen, "node", "", "this host has no name; give one by --node");
	for (const char *p = c->node; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return refuse(err, errlen, "node", c->node,
				      "letters, digits, '.', '_' and '-' are allowed");
	if (r == -E2BIG)
		return refuse(err, errlen, "collector", c->collector, "at most 8 are allowed");
	if (r < 0)
		return refuse(err, errlen, "collector", e.at[e.n],
			      "tcp://host:port is allowed, like tcp://127.0.0.1:7470");
	if (c->scope[0] && (strncmp(c->scope, "cgroup=/", 8) != 0))
		return refuse(err, errlen, "scope", c->scope,
			      "cgroup=PATH is allowed, with the whole path of a cgroup2 directory");
	if (!request_hooks_known(c->hooks))
		return refuse(err, errlen, "hooks", c->hooks,
			      "auto, sockets or syscalls is allowed");
	snprintf(named, sizeof(named), "all is allowed, and of ");
	on_demand_names(named + strlen(named), sizeof(named) - strlen(named));
	if (!on_demand_known(c->on_demand))
		return refuse(err, errlen, "on_demand", c->on_demand, named);
	if (!nginx_mode_known(c->nginx))
		return refuse(err, errlen, "nginx", c->nginx, "auto, on or off is allowed");
	snprintf(ring, sizeof(ring), "%lld", (long long)c->ring_mb);
	if (c->ring_mb & (c->ring_mb - 1))
		return refuse(err, errlen, "ring_mb", ring, "1, 2, 4, 8, ... 256 is allowed");
	return 0;
}

int probe_config_read(int argc, char *const argv[], struct probe_config *c, enum probe_task *task,
		      char *err, size_t errlen)
{
	int r;

	*task = PROBE_RUN;
	set_defaults(c);
	r = load_file(argc, argv, c, err, errlen);
	for (int i = 1; i < argc && r == 0; i++) {
		const struct word *w = find_word(argv[i]);

		if (strcmp(argv[i], "--config") == 0)
			i++;
		else if (!w)
			r = take_flag(argc, argv, &i, c, err, errlen);
		else
			*task = w->task;
		if (*task == PROBE_HELP || *task == PROBE_TELL_VERSION)
			return r;
	}
	return r < 0 ? r : check(c, err, errlen);
}

void probe_config_help(void)
{
	char flag[32];

	printf("seismo-probe: finds this node's failed and slow requests and tells a collector\n\n"
	       "  %-16s %s\n",
	       "--config FILE", "read FILE first: the same keys, in sections");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		flag_of(&options[i], flag);
		printf("  %-16s %s\n", flag, options[i].help);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		printf("  %-16s %s\n", words[i].flag, words[i].help);
}

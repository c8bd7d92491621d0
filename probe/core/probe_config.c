// SPDX-License-Identifier: Apache-2.0
#include "probe/core/probe_config.h"

#include <ctype.h>
#include <stdio.h>

#include "lib/config/config.h"
#include "lib/config/config_doc.h"
#include "lib/uplink/endpoints.h"
#include "probe/core/on_demand.h"

#define OPTION(section, key, type) section, #key, type, CONFIG_FIELD(struct probe_config, key)

static const struct config_section sections[] = {
	{ "probe", "Node, collector and cost", NULL },
	{ "request", "Requests", NULL },
	{ "files", "Slow file operations", NULL },
	{ "profile", "CPU profile", NULL },
	{ "kernel", "Waiting tasks", NULL },
	{ "stalls", "Stalls",
	  "The probe reports an event when tasks waited for a CPU, a disk or memory for at least "
	  "this share of the time, and longer than usual on this node, for one to two seconds. The "
	  "event names the causes. CPU waits of tasks with idle priority or a nice value of 10 and "
	  "more do not count." },
};

static const struct config_option options[] = {
	{
		OPTION("probe", node, CONFIG_STR),
		.min = 1,
		.none = "the host name",
		.arg = "NAME",
		.help = "name of this node in tables and links",
		.more = "Letters, digits, '.', '_' and '-' are allowed.",
		.example = "web-1",
	},
	{
		OPTION("probe", collector, CONFIG_STR),
		.min = 1,
		.initial = "tcp://127.0.0.1:7470",
		.arg = "URL",
		.help = "collector address or comma-separated list",
		.more = "The form is tcp://HOST:PORT. The probe sends to the first address that "
			"answers. Up to 8 collectors of one database are allowed.",
	},
	{
		OPTION("probe", collector_key, CONFIG_STR),
		.min = 1,
		.arg = "KEY",
		.help = "public keys of the collectors, or files of keys",
		.more = "The public key of each collector, as `seismo-collector key` prints it "
			"there, or a file of such keys. Separate several with commas. The probe "
			"sends only to collectors with one of these keys.",
		.example = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
	},
	{
		OPTION("probe", keys, CONFIG_STR),
		.min = 1,
		.initial = "/var/lib/seismo/keys",
		.arg = "DIR",
		.help = "directory of this node's key pair",
		.more = "The probe creates the key pair at its first start. Collectors identify "
			"the node by it. Keep it secret: a copy of it can send as this node.",
	},
	{
		OPTION("probe", token, CONFIG_STR),
		.arg = "FILE",
		.help = "file with an enrollment token",
		.more = "A token from `seismo-collector node token` admits this node at its first "
			"connection. Without one, an operator must approve the node on the "
			"collector.",
		.example = "/etc/seismo/token",
	},
	{
		OPTION("probe", spool_mb, CONFIG_INT),
		.min = 1,
		.max = 1024,
		.unit = "MiB",
		.initial = "6", /* with the rest of a quiet probe below 16 MiB */
		.help = "memory for batches that the collector has not stored yet",
		.more = "When it is full, the probe drops metrics before requests. It counts and "
			"reports the drops.",
	},
	{
		OPTION("probe", spool, CONFIG_STR),
		.arg = "DIR",
		.help = "directory that keeps unsent batches across restarts",
		.more = "A batch that has waited for the collector for more than 5 s is written "
			"there, and the next start sends it first. A healthy node writes nothing. "
			"Without a directory, unsent batches are lost when the process ends.",
		.example = "/var/lib/seismo/spool",
		.in_sample = true,
	},
	{
		OPTION("probe", spool_disk_mb, CONFIG_INT),
		.min = 1,
		.max = 65536,
		.unit = "MiB",
		.initial = "256",
		.help = "size limit of the spool directory",
		.more = "When it is full, the probe drops the oldest files, metrics before "
			"requests. It counts and reports the drops.",
	},
	{
		OPTION("probe", state, CONFIG_STR),
		.arg = "FILE",
		.help = "file that keeps the baselines across restarts",
		.more = "Without a file, the probe learns every route anew after a restart.",
		.example = "/var/lib/seismo/probe.state",
		.in_sample = true,
	},
	{
		OPTION("probe", budget_percent, CONFIG_REAL),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "1",
		.help = "CPU budget of each source; 0: no limit",
		.more = "The budget applies to the reads of a source (proc, block, ...) in percent "
			"of one CPU. The probe halves the read rate of a source that costs more, "
			"again and again, until the source costs less; an event and the page of "
			"the node report it. Requests keep their rate. The budget also applies to "
			"the kernel programs of a source, in percent of all CPUs together. "
			"Programs that exceed it twice in a row examine half of the events, then "
			"half of those, down to 1 in 32. vfs, locks and dentries weight the events "
			"that they examine, so rates stay right on average (at 1 in 32, a count C "
			"has an error of about the square root of 31 C); profile weights its "
			"samples in the same way; runq watches for a smaller share of the time and "
			"reports that share. All other programs examine every event at any cost: "
			"they are cheap (block, files, drops, tcp, taskio, starts, timers), or a "
			"skipped event would be lost (oom, kmsg, rdma, custom programs). Request "
			"programs are exempt, too: most of their cost is to see requests at all; "
			"stacks and evidence are about a tenth of it.",
	},
	{
		OPTION("probe", budget_look_s, CONFIG_INT),
		.min = 2,
		.max = 3600,
		.unit = "s",
		.initial = "20",
		.help = "how often the cost of a source is checked",
		.more = "A source that was slowed down must stay within its budget for 15 checks "
			"before the probe doubles its rate again.",
	},
	{
		OPTION("probe", programs, CONFIG_STR),
		.arg = "DIR",
		.help = "directory of custom kernel programs",
		.more = "The directory holds NAME.bpf.o and, beside it, NAME.conf, which describes "
			"the values to report. /usr/lib/seismo/programs has two examples and a "
			"README.md on how to write one.",
		.example = "/etc/seismo/programs",
	},
	{
		OPTION("probe", on_demand, CONFIG_STR),
		.arg = "LIST",
		.help = "expensive sources: vfs, dentries, locks, rdma or all",
		.more = "These sources slow down the tasks that they observe, so they run only if "
			"this comma-separated list names them, or if it is `all`: vfs counts calls "
			"on files by mount and cgroup (0.8 us each); dentries counts names that "
			"were not in the cache (0.04 us for each object that the kernel creates); "
			"locks times waits for kernel locks (10 to 30 us each); rdma times ioctl "
			"calls on RDMA devices. `seismo-probe doctor` shows which of them would "
			"work on this node.",
	},
	{
		OPTION("request", slow_ms, CONFIG_REAL),
		.min = -1,
		.max = 3.6e6,
		.unit = "ms",
		.initial = "-1",
		.help = "duration of a slow request; -1: learned for each route",
		.more = "A request that takes longer is abnormal.",
	},
	{
		OPTION("request", query_string, CONFIG_BOOL),
		.initial = "no",
		.help = "send the query strings of requests",
		.more = "Query strings often hold data that should not be stored.",
	},
	{
		OPTION("request", rows_per_s, CONFIG_INT),
		.min = 0,
		.max = 1e6,
		.unit = "requests/s",
		.initial = "5000",
		.help = "limit of abnormal requests to send",
		.more = "Requests above the limit are only counted; the console shows the count.",
	},
	{
		OPTION("request", scope, CONFIG_STR),
		.none = "all tasks",
		.arg = "SCOPE",
		.help = "cgroup to observe, as cgroup=PATH",
		.more = "PATH is the full path of a cgroup2 directory. Only tasks in and below it "
			"are observed.",
		.example = "cgroup=/sys/fs/cgroup/system.slice/nginx.service",
	},
	{
		OPTION("request", ring_mb, CONFIG_INT),
		.min = 1,
		.max = 256,
		.unit = "MiB",
		.initial = "4",
		.help = "size of the kernel's request ring, a power of two",
	},
	{
		OPTION("request", hooks, CONFIG_CHOICE),
		.choices = "auto|sockets|syscalls",
		.initial = "auto",
		.help = "kernel hooks for requests",
		.more = "`sockets` uses socket tracepoints (kernel 6.3 or later); `syscalls` uses "
			"the exits of system calls (kernel 5.15 or later) and costs more; `auto` "
			"is the first that this kernel offers.",
	},
	{
		OPTION("request", split, CONFIG_BOOL),
		.initial = "yes",
		.help = "break down the time of a request",
		.more = "The breakdown into run time, waits and the rest uses hooks on the "
			"scheduler. `--split=no` turns it off.",
	},
	{
		OPTION("request", nginx, CONFIG_CHOICE),
		.choices = "auto|on|off",
		.initial = "auto",
		.help = "use of nginx's own request records",
		.more = "nginx's records show every upstream try and each pipelined request. "
			"`auto` reads them where that is cheap; `on` reads them also where it "
			"costs 10 us per request. The log reports the result.",
	},
	{
		OPTION("request", conns, CONFIG_INT),
		.min = 1,
		.max = 1e6,
		.unit = "connections",
		.initial = "65536",
		.help = "limit of connections to follow at a time",
		.more = "Requests on further connections are counted as lost; the console shows "
			"the count.",
	},
	{
		OPTION("files", slow_file_ms, CONFIG_REAL),
		.min = 0,
		.max = 3.6e6,
		.unit = "ms",
		.initial = "10",
		.help = "duration of a slow file operation; 0: never report",
		.more = "The probe reports each read, write or sync of a file that takes as long, "
			"by any process, as an event.",
	},
	{
		OPTION("files", slow_file_clock, CONFIG_CHOICE),
		.choices = "auto|tick|timer",
		.initial = "auto",
		.help = "clock that finds slow file operations",
		.more = "`tick` checks at the kernel's tick, at no additional cost; `timer` uses a "
			"timer of the probe, which under a hypervisor takes 1 to 2 percent of each "
			"CPU. `auto` is the timer where the tick is slower than 5 ms or may stop "
			"on a CPU (nohz_full), otherwise the tick.",
	},
	{
		OPTION("files", slow_files_per_s, CONFIG_INT),
		.min = 0,
		.max = 1e6,
		.unit = "events/s",
		.initial = "100",
		.help = "limit of slow file operations to report",
		.more = "Operations above the limit are only counted; the console shows the count.",
	},
	{
		OPTION("files", slow_files_per_min, CONFIG_INT),
		.min = 0,
		.max = 1e6,
		.unit = "events/min",
		.initial = "60",
		.help = "the limit as a ten-minute average; 0: none",
		.more = "On a node whose disk is busy for hours, every operation is slow; this "
			"limit bounds the reports. Operations that take ten times as long as "
			"slow_file_ms have a separate limit of the same size.",
	},
	{
		OPTION("profile", profile, CONFIG_INT),
		.min = 0,
		.max = 99,
		.unit = "samples/s",
		.initial = "19",
		.help = "stack samples of each CPU; 0: no profile",
		.more = "The probe sends the profile once a minute, and that of a new app after 5 "
			"s.",
	},
	{
		OPTION("kernel", stuck_s, CONFIG_REAL),
		.min = 0,
		.max = 86400,
		.unit = "s",
		.initial = "10",
		.help = "report tasks in uninterruptible sleep for this long",
		.more = "The probe reports a task that stays in uninterruptible sleep without "
			"progress for this long as an event. 0 disables this.",
	},
	{
		OPTION("kernel", cpu_wait_share, CONFIG_INT),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "10",
		.help = "share of time in which CPU waits are timed; 0: never",
		.more = "While tasks wait for a CPU, the probe times each wait for this share of "
			"the time: one second in ten by default.",
	},
	{
		OPTION("stalls", cpu_stall_pct, CONFIG_INT),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "40",
		.help = "report a CPU stall above this share of time",
		.more = "0 disables this.",
	},
	{
		OPTION("stalls", io_stall_pct, CONFIG_INT),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "30",
		.help = "report a disk stall above this share of time",
		.more = "0 disables this.",
	},
	{
		OPTION("stalls", memory_stall_pct, CONFIG_INT),
		.min = 0,
		.max = 100,
		.unit = "percent",
		.initial = "15",
		.help = "report a memory stall above this share of time",
		.more = "0 disables this.",
	},
};

static const struct config_word words[] = {
	{ "doctor", "check what this node offers to a probe, suggest remedies, and exit", NULL,
	  PROBE_DOCTOR, false },
	{ "--check-config", "check the configuration, report errors, and exit", NULL, PROBE_CHECK,
	  false },
	{ "--help", "print this text; FORMAT: " CONFIG_DOC_FORMATS, "[=FORMAT]", PROBE_HELP, true },
	{ "--version", "print the version", NULL, PROBE_PRINT_VERSION, true },
};

static const char *const usage[] = { "[OPTION...]", "doctor [OPTION...]", NULL };

static const struct config_note notes[] = {
	{ "Exit status", "0 on success, 1 on an error, which is logged to standard error." },
	{ "Files", "    /etc/seismo/probe.conf        configuration\n"
		   "    /var/lib/seismo/keys          key pair of this node\n"
		   "    /var/lib/seismo/spool         unsent batches\n"
		   "    /var/lib/seismo/probe.state   baselines\n"
		   "    /usr/lib/seismo/programs      custom kernel programs that are shipped\n" },
	{ "Examples",
	  "Check a configuration file:\n\n"
	  "    seismo-probe --check-config --config /etc/seismo/probe.conf\n\n"
	  "Find out which sources would work on this node, and why others would not:\n\n"
	  "    seismo-probe doctor --config /etc/seismo/probe.conf\n" },
	{ "See also", "`seismo-probe.conf`(5), `seismo-collector`(8), `seismo-replay`(1)" },
};

const struct config_program probe_program = {
	.name = "seismo-probe",
	.version = PROBE_VERSION,
	.summary = "finds failed and slow requests on this node and sends them to a collector",
	.manual = "8",
	.usage = usage,
	.about = "`seismo-probe` observes the requests that this node serves and makes, the "
		 "kernel, the disks and the CPUs. It sends abnormal requests with their evidence, "
		 "events and metrics to `seismo-collector`. It loads kernel programs at its start, "
		 "for which it needs root or CAP_BPF and CAP_PERFMON, and then drops all "
		 "privileges.\n\n"
		 "Each option of the configuration file is also a flag; `seismo-probe.conf`(5) "
		 "describes them in full.",
	.file = "/etc/seismo/probe.conf",
	.sections = sections,
	.nsections = ARRAY_SIZE(sections),
	.options = options,
	.noptions = ARRAY_SIZE(options),
	.words = words,
	.nwords = ARRAY_SIZE(words),
	.notes = notes,
	.nnotes = ARRAY_SIZE(notes),
};

static int refuse(char *err, size_t errlen, const char *what, const char *value,
		  const char *allowed)
{
	return config_refuse(err, errlen, "%s \"%s\": %s", what, value, allowed);
}

static int check_node(const struct probe_config *c, char *err, size_t errlen)
{
	if (!c->node[0])
		return refuse(err, errlen, "node", "",
			      "this host has no name; set one with --node");
	for (const char *p = c->node; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return refuse(err, errlen, "node", c->node,
				      "letters, digits, '.', '_' and '-' are allowed");
	return 0;
}

static int check_collector(const struct probe_config *c, char *err, size_t errlen)
{
	struct endpoints e;
	int r = endpoints_parse(c->collector, &e);

	if (r == -E2BIG)
		return refuse(err, errlen, "collector", c->collector, "at most 8 are allowed");
	if (r < 0)
		return refuse(err, errlen, "collector", e.at[e.n],
			      "tcp://host:port is allowed, like tcp://127.0.0.1:7470");
	return 0;
}

/* Checks what a type and a range cannot express. */
static int check(const struct probe_config *c, char *err, size_t errlen)
{
	char ring[24], names[256];
	int r = check_node(c, err, errlen);

	if (r == 0)
		r = check_collector(c, err, errlen);
	if (r < 0)
		return r;
	if (c->scope[0] && (strncmp(c->scope, "cgroup=/", 8) != 0))
		return refuse(err, errlen, "scope", c->scope,
			      "cgroup=PATH is allowed, with the full path of a cgroup2 directory");
	snprintf(names, sizeof(names), "all is allowed, or a list of ");
	on_demand_names(names + strlen(names), sizeof(names) - strlen(names));
	if (!on_demand_known(c->on_demand))
		return refuse(err, errlen, "on_demand", c->on_demand, names);
	snprintf(ring, sizeof(ring), "%lld", (long long)c->ring_mb);
	if (c->ring_mb & (c->ring_mb - 1))
		return refuse(err, errlen, "ring_mb", ring, "1, 2, 4, 8, ... 256 is allowed");
	return 0;
}

int probe_config_read(int argc, char *const argv[], struct probe_config *c, enum probe_task *task,
		      char *err, size_t errlen)
{
	struct config_args args = { .task = PROBE_RUN };
	int r;

	memset(c, 0, sizeof(*c));
	r = config_args_read(&probe_program, argc, argv, c, &args, err, errlen);
	*task = (enum probe_task)args.task;
	c->help = args.format;
	if (r < 0 || *task == PROBE_HELP || *task == PROBE_PRINT_VERSION)
		return r;
	if (!c->node[0] && gethostname(c->node, sizeof(c->node) - 1) < 0)
		c->node[0] = 0;
	return check(c, err, errlen);
}

// SPDX-License-Identifier: Apache-2.0
#include "replay/options.h"

#include "lib/config/config_doc.h"

#define OPTION(key, type) "", #key, type, CONFIG_FIELD(struct replay_options, key)

static const struct config_section sections[] = { { "", "Options", NULL } };

static const struct config_option options[] = {
	{
		OPTION(collector, CONFIG_STR),
		.arg = "URL",
		.help = "collector address, tcp://HOST:PORT",
	},
	{
		OPTION(collector_key, CONFIG_STR),
		.arg = "KEY",
		.help = "public key of the collector, or a file with it",
		.more = "`seismo-collector key` prints the key there.",
	},
	{
		OPTION(keys, CONFIG_STR),
		.arg = "DIR",
		.help = "directory of the hosts' key pairs",
		.more = "A missing key pair is created as DIR/HOST/node.key.",
	},
	{
		OPTION(token, CONFIG_STR),
		.arg = "FILE",
		.help = "file with an enrollment token",
		.more = "`seismo-collector node token --uses N` prints a token that admits N "
			"hosts.",
	},
	{
		OPTION(requests, CONFIG_STR),
		.arg = "FILE",
		.help = "file of the requests that the hosts served",
	},
	{
		OPTION(calls, CONFIG_STR),
		.arg = "FILE",
		.help = "file of the calls that the hosts made",
	},
	{
		OPTION(events, CONFIG_STR),
		.arg = "FILE",
		.help = "file of other events on the hosts",
	},
	{
		OPTION(play, CONFIG_STR),
		.none = "every window once",
		.arg = "LIST",
		.help = "windows to play, in this order, as in A,B",
		.more = "Separate them with commas; a window that is followed by an asterisk and a "
			"number is repeated as often.",
	},
	{
		OPTION(at, CONFIG_REAL),
		.min = 0,
		.max = 9999999999,
		.unit = "s since 1970",
		.initial = "0",
		.help = "time at which the replay ends; 0: now",
	},
	{
		OPTION(speed, CONFIG_REAL),
		.min = 0,
		.max = 9999999999,
		.unit = "s/s",
		.initial = "0",
		.help = "recorded seconds to play per second; 0: no limit",
	},
	{
		OPTION(slow_ms, CONFIG_REAL),
		.min = -1,
		.max = 9999999999,
		.unit = "ms",
		.initial = "-1",
		.help = "duration of a slow request; -1: learned for each route",
	},
	{
		OPTION(check, CONFIG_BOOL),
		.initial = "no",
		.help = "read and check the files only, and print a summary of them",
	},
};

static const struct config_word words[] = {
	{ "--help", "print this text; FORMAT: text, man or markdown", "[=FORMAT]", REPLAY_HELP,
	  true },
	{ "--version", "print the version", NULL, REPLAY_PRINT_VERSION, true },
};

static const char *const usage[] = {
	"--collector URL --collector-key KEY --keys DIR --requests FILE [OPTION...]",
	"--check --requests FILE [--calls FILE] [--events FILE]",
	NULL,
};

static const struct config_note notes[] = {
	{ "Output", "For each host, a line `host NAME ADDRESS`; at the beginning of each window, a "
		    "line `window NAME BEGIN END RECORDED` with the times in microseconds since "
		    "1970: when the window is replayed, and when its first request was recorded." },
	{ "Exit status", "0 on success, 1 on an error, which is logged to standard error." },
	{ "Examples",
	  "Replay ten minutes of a normal minute, then a fault:\n\n"
	  "    seismo-replay --collector tcp://127.0.0.1:7470 --collector-key collector.pub \\\n"
	  "        --token token --keys ./replayed --requests requests.csv \\\n"
	  "        --calls calls.csv --play 'baseline*10,fault-04'\n" },
	{ "See also", "`seismo-probe`(8), `seismo-collector`(8)" },
};

const struct config_program replay_program = {
	.name = "seismo-replay",
	.version = REPLAY_VERSION,
	.summary = "sends recorded requests, calls and events to a collector",
	.manual = "1",
	.usage = usage,
	.about = "`seismo-replay` plays what was recorded elsewhere (traces, access logs, exports) "
		 "to a collector. Each recorded host is a node with its own keys. Its requests go "
		 "through the code of the probe that learns what is normal and decides which "
		 "requests are abnormal. Times are moved so that the replay ends now, or at the "
		 "time of --at.\n\n"
		 "A file is in CSV, and its first line names the columns. It may be a pipe. The "
		 "columns are described in replay/README.md.",
	.sections = sections,
	.nsections = ARRAY_SIZE(sections),
	.options = options,
	.noptions = ARRAY_SIZE(options),
	.words = words,
	.nwords = ARRAY_SIZE(words),
	.notes = notes,
	.nnotes = ARRAY_SIZE(notes),
};

/* Checks beyond the options' types. */
static int check(const struct replay_options *o, char *err, size_t errlen)
{
	if (!*o->requests && !*o->calls && !*o->events)
		return config_refuse(err, errlen,
				     "--requests, --calls or --events must name a file; --help "
				     "lists all options");
	if (!o->check && (!*o->collector || !*o->collector_key || !*o->keys))
		return config_refuse(err, errlen,
				     "--collector, --collector-key and --keys are required; --help "
				     "lists all options");
	return 0;
}

int replay_options_read(int argc, char *const argv[], struct replay_options *o,
			enum replay_task *task, char *err, size_t errlen)
{
	struct config_args args = { .task = REPLAY_RUN };
	int r;

	memset(o, 0, sizeof(*o));
	r = config_args_read(&replay_program, argc, argv, o, &args, err, errlen);
	*task = (enum replay_task)args.task;
	o->help = args.format;
	return r < 0 || *task != REPLAY_RUN ? r : check(o, err, errlen);
}

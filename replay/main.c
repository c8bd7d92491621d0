// SPDX-License-Identifier: Apache-2.0
/* main.c - seismo-replay: what was recorded elsewhere, as if it happened just now. See README.md.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "replay/clock.h"
#include "replay/play.h"

static const char usage[] =
	"seismo-replay --collector URL --collector-key FILE --keys DIR --requests FILE "
	"[OPTION...]\n\n"
	"Plays recorded requests, calls and events, each host as a node of its own, through the "
	"probe's\n"
	"own judgement to a collector. The form of the files is in replay/README.md; FILE may be a "
	"pipe.\n\n"
	"  --collector URL      tcp://host:port of the collector\n"
	"  --collector-key FILE its public key\n"
	"  --keys DIR           where the keys of the hosts are, or are made: DIR/HOST/node.key\n"
	"  --token FILE         what lets new nodes in (seismo-collector node token --uses N)\n"
	"  --requests FILE      what hosts served\n"
	"  --calls FILE         what hosts asked of others\n"
	"  --events FILE        what else happened on them\n"
	"  --play A,B*3,...     these windows, in this order, some several times; else all, once\n"
	"  --at SECONDS         when it ends, in seconds since 1970; else now\n"
	"  --speed N            N seconds of it in one; 0: as fast as it is stored (0)\n"
	"  --slow-ms N          slower is abnormal; else as learnt of each route\n"
	"  --check              only read the files\n";

enum { CHECK = 256, HELP };

static const struct option options[] = {
	{ "collector", required_argument, NULL, 'c' },
	{ "collector-key", required_argument, NULL, 'k' },
	{ "keys", required_argument, NULL, 'd' },
	{ "token", required_argument, NULL, 't' },
	{ "requests", required_argument, NULL, 'r' },
	{ "calls", required_argument, NULL, 'a' },
	{ "events", required_argument, NULL, 'e' },
	{ "play", required_argument, NULL, 'p' },
	{ "at", required_argument, NULL, 'w' },
	{ "speed", required_argument, NULL, 's' },
	{ "slow-ms", required_argument, NULL, 'm' },
	{ "check", no_argument, NULL, CHECK },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

struct wanted {
	struct play_config play;
	struct recording_files files;
	bool check;
};

static int take_number(const char *name, const char *value, double *out)
{
	char *end;

	*out = strtod(value, &end);
	if (*value && !*end && *out >= 0 && *out < 1e10)
		return 0;
	log_err(0, "--%s is \"%s\", not a number", name, value);
	return -EINVAL;
}

static int take_option(int c, struct wanted *w)
{
	double at;

	switch (c) {
	case 'c':
		w->play.collector = optarg;
		return 0;
	case 'k':
		w->play.collector_key = optarg;
		return 0;
	case 'd':
		w->play.keys = optarg;
		return 0;
	case 't':
		w->play.token = optarg;
		return 0;
	case 'r':
		w->files.requests = optarg;
		return 0;
	case 'a':
		w->files.calls = optarg;
		return 0;
	case 'e':
		w->files.events = optarg;
		return 0;
	case 'p':
		w->play.windows = optarg;
		return 0;
	case 's':
		return take_number("speed", optarg, &w->play.speed);
	case 'm':
		return take_number("slow-ms", optarg, &w->play.slow_ms);
	case CHECK:
		w->check = true;
		return 0;
	case HELP:
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	case 'w':
		if (take_number("at", optarg, &at) < 0)
			return -EINVAL;
		w->play.until_ns = (uint64_t)(at * 1e9);
		return 0;
	default:
		return -EINVAL;
	}
}

static int read_options(int argc, char *argv[], struct wanted *w)
{
	int c, r = 0;

	while (r == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
		r = take_option(c, w);
	if (r == 0 && optind < argc) {
		log_err(0, "%s is no option; --help names them all", argv[optind]);
		r = -EINVAL;
	}
	if (r == 0 && !w->files.requests && !w->files.calls && !w->files.events) {
		log_err(0, "--requests, --calls or --events must name a file; --help says more");
		r = -EINVAL;
	}
	if (r == 0 && !w->check &&
	    (!w->play.collector || !w->play.collector_key || !w->play.keys)) {
		log_err(0, "--collector, --collector-key and --keys are needed; --help says more");
		r = -EINVAL;
	}
	return r;
}

int main(int argc, char *argv[])
{
	struct wanted w = { .play = { .slow_ms = -1 } };
	struct recording recording = { 0 };
	char why[CSV_WHY] = "";
	int r;

	log_init("seismo-replay", LOG_INFO);
	if (read_options(argc, argv, &w) < 0)
		return EXIT_FAILURE;
	r = recording_read(&recording, &w.files, why);
	if (r == 0 && w.check)
		printf("%zu requests, calls and events\n", recording.n);
	else if (r == 0)
		r = play(&recording, &w.play, why);
	if (r < 0)
		log_err(0, "%s", why);
	recording_free(&recording);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
/* main.c - seismo-replay: plays recorded requests to a collector as if they happened now. See
 * README.md. */
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/config/config_doc.h"
#include "replay/options.h"
#include "replay/play.h"
#include "replay/summary.h"

static const char *given(const char *text)
{
	return *text ? text : NULL;
}

static int print_help(const char *format)
{
	if (config_doc_print(&replay_program, NULL, 0, format, stdout) == 0)
		return EXIT_SUCCESS;
	log_err(0, "--help=%s: text, man or markdown is allowed", format);
	return EXIT_FAILURE;
}

static int run(const struct replay_options *o)
{
	const struct recording_files files = { .requests = given(o->requests),
					       .calls = given(o->calls),
					       .events = given(o->events) };
	const struct play_config config = { .collector = o->collector,
					    .collector_key = o->collector_key,
					    .keys = o->keys,
					    .token = o->token,
					    .windows = given(o->play),
					    .until_ns = (uint64_t)(o->at * 1e9),
					    .speed = o->speed,
					    .slow_ms = o->slow_ms };
	struct recording recording = { 0 };
	char why[CSV_WHY] = "";
	int r = recording_read(&recording, &files, why);

	if (r == 0 && o->check)
		summary_print(&recording);
	else if (r == 0)
		r = play(&recording, &config, why);
	if (r < 0)
		log_err(0, "%s", why);
	recording_free(&recording);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	static struct replay_options options;
	enum replay_task task;
	char err[512];

	log_init("seismo-replay", LOG_INFO);
	if (replay_options_read(argc, argv, &options, &task, err, sizeof(err)) < 0) {
		log_err(0, "%s", err);
		return EXIT_FAILURE;
	}
	switch (task) {
	case REPLAY_HELP:
		return print_help(options.help);
	case REPLAY_PRINT_VERSION:
		puts("seismo-replay " REPLAY_VERSION);
		return EXIT_SUCCESS;
	case REPLAY_RUN:
		break;
	}
	return run(&options);
}

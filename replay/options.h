// SPDX-License-Identifier: Apache-2.0
/* options.h - the options of seismo-replay, set by flag. */
#pragma once

#include "lib/config/config_args.h"

#define REPLAY_VERSION "0.2.0"

struct replay_options {
	char collector[1024]; /* tcp://host:port, or several, separated by commas */
	char collector_key[1024]; /* public keys, or files of keys */
	char keys[256]; /* directory of the hosts' key pairs */
	char token[512]; /* file with an enrollment token; "": none */
	char requests[4096], calls[4096], events[4096]; /* files; "": none */
	char play[8192]; /* windows: "a,b*3"; "": every window once */
	double at; /* end of the replay, seconds since 1970; 0: now */
	double speed; /* 0: as fast as it is stored */
	double slow_ms; /* limit for every route; < 0: learned for each route */
	bool check; /* only read the files */
	const char *help; /* REPLAY_HELP: the format of the help */
};

enum replay_task { REPLAY_RUN, REPLAY_HELP, REPLAY_PRINT_VERSION };

extern const struct config_program replay_program;

/* -EINVAL with a sentence in err. */
int replay_options_read(int argc, char *const argv[], struct replay_options *o,
			enum replay_task *task, char *err, size_t errlen) MUST_CHECK;

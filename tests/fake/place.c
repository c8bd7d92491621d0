// SPDX-License-Identifier: Apache-2.0
#include "tests/fake/place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/lib/test.h"

const char *place(void)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/seismo-place.%d", (int)getpid());
	return dir;
}

int place_run(const char *command)
{
	char text[256];

	snprintf(text, sizeof(text), "mkdir -p %s; cd %s; %s", place(), place(), command);
	return system(text);
}

void place_clean(void)
{
	CHECK_EQ(place_run("rm -rf $PWD"), 0);
}

void place_limit(rlim_t bytes)
{
	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ bytes, RLIM_INFINITY }), 0);
}

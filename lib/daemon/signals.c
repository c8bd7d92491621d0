// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

#include "lib/base/base.h"
#include "lib/base/log.h"

int signals_open(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die("signalfd: %s", strerror(errno));
	return fd;
}

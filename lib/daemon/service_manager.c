// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "lib/base/log.h"

static int sock = -1;

void service_manager_open(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;

	if (!len || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@') /* an abstract socket */
		to.sun_path[0] = 0;
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock >= 0 && connect(sock, (const struct sockaddr *)&to,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) == 0)
		return;
	log_warn(-errno, "cannot notify the service manager at %s", path);
	service_manager_close();
}

void service_manager_close(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
}

static void notify(const char *text)
{
	if (sock >= 0)
		(void)!send(sock, text, strlen(text), MSG_NOSIGNAL); /* the next one may arrive */
}

void service_manager_ready(void)
{
	notify("READY=1");
}

uint32_t service_manager_alive_ms(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long ms = us ? strtoull(us, NULL, 10) / 2000 : 0;

	if (sock < 0 || (pid && strtol(pid, NULL, 10) != getpid()) || ms > UINT32_MAX)
		return 0;
	return (uint32_t)ms;
}

void service_manager_alive(void)
{
	notify("WATCHDOG=1");
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/service_manager.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/fake/place.h"
#include "tests/lib/test.h"

static char text[64];

/* The socket of a service manager, in the place; "@" in front of its name: an abstract one. */
static int manager(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t len = strlen(name);

	memcpy(a.sun_path, name, len);
	if (name[0] == '@')
		a.sun_path[0] = 0;
	CHECK_EQ(bind(fd, (struct sockaddr *)&a,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
		 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static const char *received(int fd)
{
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void notifies_at(const char *name)
{
	AUTO_CLOSE int fd = manager(name);

	setenv("WATCHDOG_USEC", "60000000", 1);
	unsetenv("WATCHDOG_PID");
	service_manager_open();
	service_manager_ready();
	CHECK_STR(received(fd), "READY=1");
	CHECK_EQ(service_manager_alive_ms(), 30000);
	service_manager_alive();
	CHECK_STR(received(fd), "WATCHDOG=1");
	setenv("WATCHDOG_PID", "1", 1);
	CHECK_EQ(service_manager_alive_ms(), 0);
	service_manager_close();
	service_manager_alive();
	CHECK_STR(received(fd), "");
}

TEST(a_service_manager_is_notified)
{
	char name[64];

	CHECK_EQ(place_run(":"), 0);
	snprintf(name, sizeof(name), "%s/notify", place());
	notifies_at(name);
	snprintf(name, sizeof(name), "@seismo-test-%d", (int)getpid());
	notifies_at(name);
	place_clean();
}

TEST(a_manager_that_does_not_read_holds_nobody_up)
{
	char name[64];

	snprintf(name, sizeof(name), "@seismo-full-%d", (int)getpid());
	AUTO_CLOSE int fd = manager(name);

	service_manager_open();
	for (int i = 0; i < 10000; i++)
		service_manager_alive();
	CHECK_STR(received(fd), "WATCHDOG=1");
	service_manager_close();
}

TEST(without_one_nothing_is_done)
{
	setenv("NOTIFY_SOCKET", "relative", 1);
	service_manager_open();
	service_manager_ready();
	CHECK_EQ(service_manager_alive_ms(), 0);
	unsetenv("NOTIFY_SOCKET");
	service_manager_open();
	service_manager_ready();
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	service_manager_open();
	CHECK_EQ(service_manager_alive_ms(), 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/space/disk_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CMDLINE = 4096 };

/* PostgreSQL accepts as its data directory only one of its own user that others cannot enter. */
static int open_data(const char *dir, uid_t owner)
{
	int fd = *dir == '/' ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat st;

	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) == 0 && st.st_uid == owner && !(st.st_mode & S_IRWXO))
		return fd;
	close(fd);
	return -ENOENT;
}

/* The argument of -D, also as -DDIR; dir: empty if there is none. */
static void read_command_line(pid_t pid, char dir[static PATH_MAX])
{
	char path[64], line[CMDLINE + 1];
	ssize_t n;
	int fd;

	*dir = 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, line, CMDLINE);
	close(fd);
	line[n > 0 ? n : 0] = 0;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(line + at) + 1) {
		const char *arg = line + at;

		if (strncmp(arg, "-D", 2) != 0)
			continue;
		if (!arg[2] && at + 3 < n)
			arg += 1;
		snprintf(dir, PATH_MAX, "%s", arg + 2);
	}
}

/* The row is there only for a role that may see this setting. */
static void ask_server(struct pg *p, char dir[static PATH_MAX], int *version)
{
	AUTO(PQclear) PGresult *res = NULL;

	*dir = 0;
	*version = 0;
	if (pg_ask(p,
		   "select current_setting('server_version_num')::int / 10000, (select setting "
		   "from pg_settings where name = 'data_directory')",
		   &(struct pg_args){ 0 }, &res) < 0)
		return;
	*version = atoi(PQgetvalue(res, 0, 0));
	snprintf(dir, PATH_MAX, "%s", PQgetvalue(res, 0, 1));
}

static int find_data(struct pg *p, const struct ucred *server)
{
	char dir[PATH_MAX];
	int version, fd;

	ask_server(p, dir, &version);
	fd = open_data(dir, server->uid);
	if (fd < 0 && server->pid > 0) {
		read_command_line(server->pid, dir);
		fd = open_data(dir, server->uid);
	}
	if (fd < 0) {
		snprintf(dir, sizeof(dir), "/var/lib/postgresql/%d/main", version);
		fd = open_data(dir, server->uid);
	}
	return fd < 0 ? open_data("/var/lib/pgsql/data", server->uid) : fd;
}

int disk_place_open(struct pg *p, const char *configured)
{
	struct ucred server;
	socklen_t len = sizeof(server);
	int fd;

	if (*configured) {
		fd = open(configured, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	/* fails, or names nobody, on a connection by TCP */
	if (getsockopt(pg_socket(p), SOL_SOCKET, SO_PEERCRED, &server, &len) < 0 ||
	    server.uid == (uid_t)-1)
		return -ENOENT;
	return find_data(p, &server);
}

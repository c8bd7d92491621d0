// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "lib/base/log.h"

enum { BACKLOG = 1024 };

static const char local_prefix[] = "unix:";

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static bool parse_listen(const char *listen_on, union address *a)
{
	const char *colon = strrchr(listen_on, ':');
	size_t len = colon ? (size_t)(colon - listen_on) : 0;
	char host[WEB_HOST], *end;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || !len || len >= sizeof(host) || !colon[1] || *end || port > 65535)
		return false;
	if (*listen_on == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)len - 2, listen_on + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)len, listen_on);
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons((uint16_t)port);
		return true;
	}
	a->v4.sin_family = AF_INET;
	a->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
			 &a->v4.sin_addr) == 1;
}

static bool is_loopback(const union address *a)
{
	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
	return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
}

static int bind_to(const union address *a, int *out)
{
	AUTO_CLOSE int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, &a->any, a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	*out = fd;
	fd = -1;
	return 0;
}

static int listen_on_address(const char *listen_on)
{
	union address a;
	int r, fd = -1;

	if (!parse_listen(listen_on, &a))
		return log_err(-EINVAL,
			       "web: %s is not host:port or unix:/path; give one like "
			       "127.0.0.1:8080",
			       listen_on);
	if (!is_loopback(&a))
		return log_err(-EPERM,
			       "web: %s can be reached from other machines, but the console has no "
			       "login; listen on 127.0.0.1 and use an SSH tunnel to the same port",
			       listen_on);
	r = bind_to(&a, &fd);
	if (r == -EADDRINUSE)
		return log_err(
			r, "web: %s is in use by another program; stop it or choose another port",
			listen_on);
	return r < 0 ? log_err(r, "web: cannot listen on %s", listen_on) : fd;
}

/* A socket file outlives its program. Only one that refuses connections is removed. */
static int remove_stale(const union address *a)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *path = a->local.sun_path;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return log_err(-EEXIST, "web: %s is not a socket; remove it or choose another path",
			       path);
	if (connect(fd, &a->any, sizeof(a->local)) == 0 || errno != ECONNREFUSED)
		return log_err(-EADDRINUSE,
			       "web: %s is in use by another program; stop it or choose another "
			       "path",
			       path);
	return unlink(path) < 0 ? -errno : 0;
}

static int find_group(const char *name, gid_t *gid)
{
	const struct group *g;

	*gid = (gid_t)-1;
	if (!*name)
		return 0;
	g = getgrnam(name);
	if (!g)
		return log_err(-ENOENT, "web_group: there is no group %s; create it", name);
	*gid = g->gr_gid;
	return 0;
}

/* Nobody can connect before listen(), so the mode and the group are set by then. */
static int bind_local(const union address *a, unsigned mode, gid_t gid, int *out)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *path = a->local.sun_path;
	mode_t old = umask(0777);
	int r = fd < 0 || bind(fd, &a->any, sizeof(a->local)) < 0 ? -errno : 0;

	umask(old);
	if (r < 0)
		return log_err(r, "web: cannot create the socket %s", path);
	if (gid != (gid_t)-1 && lchown(path, (uid_t)-1, gid) < 0)
		return log_err(-errno, "web_group: cannot give %s to the group", path);
	if (chmod(path, mode) < 0 || listen(fd, BACKLOG) < 0)
		return log_err(-errno, "web: cannot listen on %s", path);
	*out = fd;
	fd = -1;
	return 0;
}

static int listen_on_path(const char *path, unsigned mode, const char *group)
{
	union address a = { .local.sun_family = AF_UNIX };
	int r, fd = -1;
	gid_t gid;

	if (*path != '/' || strlen(path) >= sizeof(a.local.sun_path))
		return log_err(
			-EINVAL,
			"web: unix:%s is not unix: and an absolute path of at most %zu bytes", path,
			sizeof(a.local.sun_path) - 1);
	memcpy(a.local.sun_path, path, strlen(path));
	r = find_group(group, &gid);
	if (r < 0)
		return r;
	r = remove_stale(&a);
	if (r < 0)
		return r == -EEXIST || r == -EADDRINUSE
			       ? r
			       : log_err(r, "web: cannot replace the socket %s", path);
	r = bind_local(&a, mode, gid, &fd);
	return r < 0 ? r : fd;
}

int web_listen(const char *listen_on, unsigned mode, const char *group)
{
	size_t n = strlen(local_prefix);

	if (strncmp(listen_on, local_prefix, n) == 0)
		return listen_on_path(listen_on + n, mode, group);
	return listen_on_address(listen_on);
}

int web_listen_address(int fd, struct web_address *out)
{
	union address a;
	socklen_t len = sizeof(a);
	char text[INET6_ADDRSTRLEN];
	bool v6;

	if (getsockname(fd, &a.any, &len) < 0)
		return -errno;
	*out = (struct web_address){ 0 };
	if (a.any.sa_family == AF_UNIX)
		return 0;
	v6 = a.any.sa_family == AF_INET6;
	if (!inet_ntop(a.any.sa_family, v6 ? (void *)&a.v6.sin6_addr : (void *)&a.v4.sin_addr, text,
		       sizeof(text)))
		return -errno;
	snprintf(out->host, sizeof(out->host), v6 ? "[%s]" : "%s", text);
	out->port = ntohs(v6 ? a.v6.sin6_port : a.v4.sin_port);
	return 0;
}

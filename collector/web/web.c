// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "lib/base/log.h"
#include "collector/web/web_http.h"

enum { BACKLOG = 128, CONNECTIONS = 800, HEADERS_MAX = 16 * 1024, IDLE_S = 60 };

struct web {
	struct web_http http;
	struct MHD_Daemon *daemon;
	int fd, stop_fd; /* fd: the listening socket, until the daemon owns it */
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
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

int web_listen(const char *listen_on)
{
	union address a;
	int r, fd = -1;

	if (!parse_listen(listen_on, &a))
		return log_err(-EINVAL, "web: %s is not host:port; give one like 127.0.0.1:8080",
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

static int read_own_address(struct web *w)
{
	union address a;
	socklen_t len = sizeof(a);
	char text[INET6_ADDRSTRLEN];
	bool v6;

	if (getsockname(w->fd, &a.any, &len) < 0)
		return -errno;
	v6 = a.any.sa_family == AF_INET6;
	if (!inet_ntop(a.any.sa_family, v6 ? (void *)&a.v6.sin6_addr : (void *)&a.v4.sin_addr, text,
		       sizeof(text)))
		return -errno;
	snprintf(w->http.host, sizeof(w->http.host), v6 ? "[%s]" : "%s", text);
	w->http.port = ntohs(v6 ? a.v6.sin6_port : a.v4.sin_port);
	return 0;
}

static int start_daemon(struct web *w)
{
	w->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		web_http_on_request, &w->http, MHD_OPTION_LISTEN_SOCKET, w->fd, /* */
		MHD_OPTION_URI_LOG_CALLBACK, web_http_on_uri, &w->http, MHD_OPTION_NOTIFY_COMPLETED,
		web_http_on_done, &w->http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_END);
	if (!w->daemon)
		return errno ? -errno : -EIO;
	w->fd = -1;
	return 0;
}

static int start_web(struct web *w, const struct web_config *cfg)
{
	int r = read_own_address(w);

	if (r < 0)
		return r;
	w->http.version = cfg->version;
	w->http.keep_days = cfg->keep_days;
	w->http.on_command = cfg->on_command;
	w->http.commands = cfg->commands;
	w->http.hub = web_hub_new();
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->stop_fd < 0 || !w->http.hub)
		return -ENOMEM;
	r = web_pool_start(&w->http.pool, cfg->database, w->stop_fd);
	if (r < 0)
		return r;
	r = web_live_start(&w->http.live, w->http.hub, cfg->database, w->stop_fd);
	return r < 0 ? r : start_daemon(w);
}

int web_start(struct web **out, const struct web_config *cfg)
{
	int fd = cfg->fd ? cfg->fd : web_listen(cfg->listen), r;
	sigset_t all, old;
	struct web *w;

	if (fd < 0)
		return fd;
	w = calloc(1, sizeof(*w));
	if (!w) {
		close(fd);
		return -ENOMEM;
	}
	w->fd = fd;
	w->stop_fd = -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals go to the main thread */
	r = start_web(w, cfg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		web_stop(w);
		return log_err(r, "web: cannot start");
	}
	*out = w;
	return 0;
}

void web_notify(struct web *w)
{
	if (w)
		web_live_notify(w->http.live);
}

/* No connection may be suspended when the daemon stops: the streams end first, then the queued
 * requests are answered. */
void web_stop(struct web *w)
{
	uint64_t one = 1;

	if (!w)
		return;
	if (w->stop_fd >= 0 && write(w->stop_fd, &one, sizeof(one)) < 0)
		die("web: cannot stop: %s", strerror(errno));
	if (w->http.hub)
		web_hub_close(w->http.hub);
	web_pool_stop(w->http.pool);
	web_live_stop(w->http.live);
	if (w->daemon)
		MHD_stop_daemon(w->daemon);
	web_pool_free(w->http.pool);
	web_live_free(w->http.live);
	web_hub_free(w->http.hub);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

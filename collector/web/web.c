// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "lib/base/log.h"
#include "collector/core/privileges.h"
#include "collector/web/web_gate.h"
#include "collector/web/web_http.h"
#include "collector/web/web_listen.h"

enum { HEADERS_MAX = 16 * 1024, IDLE_S = 60 };

struct web {
	struct web_http http;
	struct MHD_Daemon *daemon;
	struct web_gate *gate;
	int fd, stop_fd; /* fd: the listening socket */
};

/* The gate has accepted fd. The daemon closes it also when it refuses it. */
static int on_connection(void *arg, int fd, const void *address, unsigned len)
{
	struct web *w = arg;

	return MHD_add_connection(w->daemon, fd, address, len) == MHD_YES ? 0 : -EIO;
}

static int start_daemon(struct web *w)
{
	const struct web_limits *limits = web_seats_limits(w->http.seats);

	w->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET,
		0, NULL, NULL, web_http_on_request, &w->http, MHD_OPTION_URI_LOG_CALLBACK,
		web_http_on_uri, &w->http, MHD_OPTION_NOTIFY_COMPLETED, web_http_on_done, &w->http,
		MHD_OPTION_NOTIFY_CONNECTION, web_http_on_connection, &w->http,
		MHD_OPTION_CONNECTION_LIMIT, 2 * (limits->seats + limits->held_back),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_END);
	if (!w->daemon)
		return errno ? -errno : -EIO;
	return web_gate_start(&w->gate, &(struct web_gate_config){ .listen_fd = w->fd,
								   .stop_fd = w->stop_fd,
								   .seats = w->http.seats,
								   .on_connection = on_connection,
								   .arg = w });
}

static struct web_seats *new_seats(void)
{
	struct rlimit l = { 0 };

	privileges_descriptors();
	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		l.rlim_cur = 1024;
	return web_seats_new(web_limits_for(l.rlim_cur));
}

static int start_web(struct web *w, const struct web_config *cfg)
{
	int r = web_listen_address(w->fd, &w->http.own);

	if (r < 0)
		return r;
	w->http.version = cfg->version;
	w->http.keep_days = cfg->keep_days;
	w->http.on_command = cfg->on_command;
	w->http.commands = cfg->commands;
	w->http.read_only = cfg->read_only;
	w->http.hub = web_hub_new();
	w->http.seats = new_seats();
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->stop_fd < 0 || !w->http.hub || !w->http.seats)
		return -ENOMEM;
	r = web_pool_start(&w->http.pool, cfg->database, w->stop_fd);
	if (r < 0)
		return r;
	r = web_live_start(&w->http.live, w->http.hub, cfg->database, w->stop_fd);
	return r < 0 ? r : start_daemon(w);
}

int web_start(struct web **out, const struct web_config *cfg)
{
	int fd = cfg->fd ? cfg->fd : web_listen(cfg->listen, cfg->mode, ""), r;
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
	web_gate_stop(w->gate);
	if (w->http.hub)
		web_hub_close(w->http.hub);
	web_pool_stop(w->http.pool);
	web_live_stop(w->http.live);
	if (w->daemon)
		MHD_stop_daemon(w->daemon);
	web_pool_free(w->http.pool);
	web_live_free(w->http.live);
	web_hub_free(w->http.hub);
	web_seats_free(w->http.seats);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

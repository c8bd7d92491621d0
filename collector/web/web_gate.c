// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_gate.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "collector/web/web_asset.h"
#include "lib/base/clock.h"

#define S_NS 1000000000ull

enum { HEAD_S = 10, HEAD_MAX = 16 * 1024, URL_MAX = 256, BURST = 64, EVENTS = 64 };
enum { TAG_LISTEN = -1, TAG_STOP = -2, FULL_MS = 20, FULL_S = 3 };

union peer {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

struct visitor {
	int fd; /* -1: free */
	uint64_t since_ns;
	struct web_client client;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} from;
	unsigned from_len;
};

struct web_gate {
	struct web_gate_config cfg;
	pthread_t thread;
	int epoll_fd, spare_fd; /* spare_fd: to answer when no descriptor is free */
	uint64_t full_since_ns; /* no descriptor was free since then; 0: one was */
	unsigned nvisitors;
	char head[HEAD_MAX + 1];
	struct visitor visitor[];
};

static size_t url_of(const char *text, size_t len, char url[URL_MAX])
{
	size_t skip = len > 4 && memcmp(text, "GET ", 4) == 0	 ? 4
		      : len > 5 && memcmp(text, "HEAD ", 5) == 0 ? 5
								 : 0;
	size_t n = 0;

	while (skip && skip + n < len && !strchr(" ?\r\n", text[skip + n]) && n < URL_MAX - 1)
		n++;
	memcpy(url, text + skip, n);
	url[n] = 0;
	return n;
}

/* Also with bare line feeds, which the server then refuses. */
enum web_head web_head_look(const char *text, size_t len)
{
	char url[URL_MAX];

	if (!memmem(text, len, "\r\n\r\n", 4) && !memmem(text, len, "\n\n", 2))
		return WEB_HEAD_PART;
	if (!url_of(text, len, url))
		return WEB_HEAD_WHOLE;
	return strcmp(url, "/healthz") == 0 || strcmp(url, "/metrics") == 0 || web_asset_find(url)
		       ? WEB_HEAD_PAGE
		       : WEB_HEAD_WHOLE;
}

static const char *reason_phrase(unsigned status)
{
	switch (status) {
	case 408:
		return "Request Timeout";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	default:
		return "Service Unavailable";
	}
}

/* The bytes that came are read before the close, which would reset the connection otherwise. */
static void answer_refusal(struct web_gate *g, int fd, enum web_refusal why)
{
	char body[320], text[640];
	unsigned status = web_refusal_status(why);
	int n = snprintf(body, sizeof(body), "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}",
			 web_refusal_name(why), web_refusal_text(why));

	n = snprintf(text, sizeof(text),
		     "HTTP/1.1 %u %s\r\nContent-Type: application/json; charset=utf-8\r\n"
		     "Content-Length: %d\r\nCache-Control: no-store\r\n%sConnection: "
		     "close\r\n\r\n%s",
		     status, reason_phrase(status), n,
		     status == 429 || status == 503 ? "Retry-After: 2\r\n" : "", body);
	while (recv(fd, g->head, HEAD_MAX, MSG_DONTWAIT) == HEAD_MAX)
		;
	if (send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n)
		shutdown(fd, SHUT_WR);
}

static void drop_visitor(struct visitor *v)
{
	close(v->fd); /* leaves the epoll set by that */
	v->fd = -1;
}

static void refuse_visitor(struct web_gate *g, struct visitor *v, enum web_refusal why)
{
	web_seats_count(g->cfg.seats, why);
	answer_refusal(g, v->fd, why);
	drop_visitor(v);
}

static void hand_over(struct web_gate *g, struct visitor *v, bool page)
{
	enum web_refusal why =
		web_seats_enter(g->cfg.seats, v->fd, &v->client, page, clock_mono_ns());
	int fd = v->fd;

	if (why) {
		answer_refusal(g, fd, why);
		drop_visitor(v);
		return;
	}
	v->fd = -1;
	epoll_ctl(g->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	if (g->cfg.on_connection(g->cfg.arg, fd, &v->from, v->from_len) < 0)
		web_seats_withdraw(g->cfg.seats, fd);
}

static void look_at_head(struct web_gate *g, struct visitor *v, bool ended)
{
	ssize_t n = recv(v->fd, g->head, HEAD_MAX, MSG_PEEK | MSG_DONTWAIT);
	enum web_head head;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop_visitor(v);
		return;
	}
	head = web_head_look(g->head, (size_t)n);
	if (head != WEB_HEAD_PART || ended)
		hand_over(g, v, head == WEB_HEAD_PAGE);
	else if (n == HEAD_MAX)
		refuse_visitor(g, v, WEB_HEAD_LONG);
}

/* Ends the oldest visitor of this client, or of all (NULL), if there are as many as the limit. */
static void make_room(struct web_gate *g, const struct web_client *c, unsigned limit)
{
	struct visitor *oldest = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < g->nvisitors; i++) {
		struct visitor *v = &g->visitor[i];

		if (v->fd < 0 || (c && memcmp(&v->client, c, sizeof(*c)) != 0))
			continue;
		n++;
		if (!oldest || v->since_ns < oldest->since_ns)
			oldest = v;
	}
	if (oldest && n >= limit)
		refuse_visitor(g, oldest, WEB_HEAD_YIELDED);
}

static struct web_client client_of(int fd, const union peer *p)
{
	struct web_client c = { .key = { (uint8_t)p->any.sa_family } };
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(who);

	if (p->any.sa_family == AF_INET)
		memcpy(c.key + 1, &p->v4.sin_addr, sizeof(p->v4.sin_addr));
	else if (p->any.sa_family == AF_INET6)
		memcpy(c.key + 1, &p->v6.sin6_addr, sizeof(p->v6.sin6_addr));
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0)
		memcpy(c.key + 1, &who.uid, sizeof(who.uid));
	return c;
}

static void admit_visitor(struct web_gate *g, int fd, const union peer *peer)
{
	const struct web_limits *limits = web_seats_limits(g->cfg.seats);
	struct web_client client = client_of(fd, peer);
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	struct visitor *v = g->visitor;

	make_room(g, &client, limits->client_heads);
	make_room(g, NULL, g->nvisitors);
	while (v->fd >= 0)
		v++;
	*v = (struct visitor){ .fd = fd, .since_ns = clock_mono_ns(), .client = client };
	v->from.any.sa_family = peer->any.sa_family;
	v->from_len = sizeof(v->from.any.sa_family);
	if (peer->any.sa_family == AF_INET) {
		v->from.v4 = peer->v4;
		v->from_len = sizeof(peer->v4);
	} else if (peer->any.sa_family == AF_INET6) {
		v->from.v6 = peer->v6;
		v->from_len = sizeof(peer->v6);
	}
	ev.data.fd = (int)(v - g->visitor);
	if (epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		drop_visitor(v);
	else
		look_at_head(g, v, false);
}

/* The accept guard frees descriptors for the console at its next look, within a second. When none
 * is free for longer, the spare one goes, and the connection is ended with a sentence. */
static void wait_or_refuse(struct web_gate *g)
{
	uint64_t now = clock_mono_ns();
	int fd;

	if (!g->full_since_ns)
		g->full_since_ns = now;
	usleep(FULL_MS * 1000);
	if (now - g->full_since_ns < FULL_S * S_NS)
		return;
	close(g->spare_fd);
	fd = accept4(g->cfg.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		web_seats_count(g->cfg.seats, WEB_ALL_SEATS);
		answer_refusal(g, fd, WEB_ALL_SEATS);
		close(fd);
	}
	g->spare_fd = epoll_create1(EPOLL_CLOEXEC);
	make_room(g, NULL, 1);
}

static void accept_some(struct web_gate *g)
{
	for (int i = 0; i < BURST; i++) {
		union peer peer = { .any.sa_family = AF_UNIX };
		socklen_t len = sizeof(peer);
		int fd = accept4(g->cfg.listen_fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			g->full_since_ns = 0;
			admit_visitor(g, fd, &peer);
		} else if (errno == EMFILE || errno == ENFILE) {
			wait_or_refuse(g);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			g->full_since_ns = 0;
			return;
		}
	}
}

static void end_late_heads(struct web_gate *g, uint64_t now_ns)
{
	for (unsigned i = 0; i < g->nvisitors; i++) {
		struct visitor *v = &g->visitor[i];

		if (v->fd >= 0 && now_ns > v->since_ns + HEAD_S * S_NS)
			refuse_visitor(g, v, WEB_HEAD_LATE);
	}
}

/* Visitors come before new connections: an event of a place that was freed and taken again in this
 * round would only cause one more look. */
static bool handle_events(struct web_gate *g, const struct epoll_event *ev, int n)
{
	bool asked = false;

	for (int i = 0; i < n; i++) {
		int tag = ev[i].data.fd;

		if (tag == TAG_STOP)
			return false;
		if (tag == TAG_LISTEN)
			asked = true;
		else if (g->visitor[tag].fd >= 0)
			look_at_head(g, &g->visitor[tag], ev[i].events & (EPOLLRDHUP | EPOLLHUP));
	}
	if (asked)
		accept_some(g);
	return true;
}

static void *gate_run(void *arg)
{
	struct web_gate *g = arg;
	struct epoll_event ev[EVENTS];
	uint64_t swept_ns = clock_mono_ns();

	for (;;) {
		int n = epoll_wait(g->epoll_fd, ev, EVENTS, 1000);
		uint64_t now = clock_mono_ns();

		if (!handle_events(g, ev, n))
			return NULL;
		if (now - swept_ns < S_NS)
			continue;
		swept_ns = now;
		end_late_heads(g, now);
		web_seats_sweep(g->cfg.seats, now);
	}
}

static void gate_free(struct web_gate *g)
{
	for (unsigned i = 0; i < g->nvisitors; i++)
		if (g->visitor[i].fd >= 0)
			drop_visitor(&g->visitor[i]);
	if (g->epoll_fd >= 0)
		close(g->epoll_fd);
	if (g->spare_fd >= 0)
		close(g->spare_fd);
	free(g);
}

static int begin_gate(struct web_gate *g)
{
	struct epoll_event listens = { .events = EPOLLIN, .data.fd = TAG_LISTEN };
	struct epoll_event stops = { .events = EPOLLIN, .data.fd = TAG_STOP };

	if (g->epoll_fd < 0 || g->spare_fd < 0 ||
	    epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, g->cfg.listen_fd, &listens) < 0 ||
	    epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, g->cfg.stop_fd, &stops) < 0)
		return -errno;
	return -pthread_create(&g->thread, NULL, gate_run, g);
}

int web_gate_start(struct web_gate **out, const struct web_gate_config *cfg)
{
	unsigned n = web_seats_limits(cfg->seats)->heads;
	struct web_gate *g = calloc(1, sizeof(*g) + n * sizeof(g->visitor[0]));
	int r;

	if (!g)
		return -ENOMEM;
	g->cfg = *cfg;
	g->nvisitors = n;
	for (unsigned i = 0; i < n; i++)
		g->visitor[i].fd = -1;
	g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	g->spare_fd = epoll_create1(EPOLL_CLOEXEC);
	r = begin_gate(g);
	if (r < 0) {
		gate_free(g);
		return r;
	}
	*out = g;
	return 0;
}

void web_gate_stop(struct web_gate *g)
{
	if (!g)
		return;
	pthread_join(g->thread, NULL);
	gate_free(g);
}

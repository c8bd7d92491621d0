// SPDX-License-Identifier: Apache-2.0
#include "collector/access/slow_peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/core/counters.h"

#define MB (1ull << 20)

enum { MAX_FD = 1 << 20 };

/* The largest valid message takes 2 MB, and the kernel buffers up to 6 MB for a slow reader.
 * Connections are checked whenever the process has grown by this much. */
static const uint64_t LIMIT = 16 * MB;

/* The time between sweeps, and the number of silent sweeps in a row after which a peer is cut. */
static const uint64_t SWEEP_NS = 10000000000u;
enum { SILENT = 3 };

enum { LISTENING = 10 }; /* TCP_LISTEN of net/tcp_states.h */

struct connection {
	uint64_t received; /* bytes, at the last check */
	bool heard; /* a whole message came since the last check */
	ino_t inode; /* of the socket that had the descriptor in the last sweep */
	bool spoke; /* a whole message came since the last sweep */
	uint8_t silent; /* sweeps without a message */
};

struct slow_peer {
	struct connection *of; /* by descriptor */
	size_t n;
	in_port_t port;
	int memory_fd;
	DIR *open; /* kept open, as there may be no free descriptor when it is needed */
	uint64_t memory;
	uint64_t swept_ns;
};

static in_port_t port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	socklen_t len = sizeof(a);

	memset(&a, 0, sizeof(a));
	if (getsockname(fd, &a.any, &len) < 0)
		return 0;
	return a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port;
}

struct slow_peer *slow_peer_new(int listening_fd)
{
	struct slow_peer *e = calloc(1, sizeof(*e));

	if (!e)
		die("out of memory");
	e->port = port_of(listening_fd);
	e->memory_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	e->open = opendir("/proc/self/fd");
	if (e->memory_fd < 0 || !e->open)
		die("/proc: %s", strerror(errno));
	return e;
}

void slow_peer_free(struct slow_peer *e)
{
	if (!e)
		return;
	close_autop(&e->memory_fd);
	closedir(e->open);
	free(e->of);
	free(e);
}

static bool grow(struct slow_peer *e, size_t n)
{
	struct connection *of;

	if (n <= e->n)
		return true;
	n += n / 2;
	of = n > MAX_FD ? NULL : realloc(e->of, n * sizeof(*of));
	if (!of)
		return false;
	memset(of + e->n, 0, (n - e->n) * sizeof(*of));
	e->of = of;
	e->n = n;
	return true;
}

void slow_peer_heard(struct slow_peer *e, int fd)
{
	if (fd >= 0 && grow(e, (size_t)fd + 1))
		e->of[fd].heard = e->of[fd].spoke = true;
}

/* Of this process, in bytes. */
static uint64_t memory(const struct slow_peer *e)
{
	unsigned long pages = 0;
	char text[128];
	ssize_t len = pread(e->memory_fd, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = 0;
	return sscanf(text, "%*u %lu", &pages) == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* NULL: not a probe's connection, or the listening socket. */
static struct connection *probe_of(struct slow_peer *e, int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) < 0 ||
	    info->tcpi_state == LISTENING || port_of(fd) != e->port || !grow(e, (size_t)fd + 1))
		return NULL;
	return &e->of[fd];
}

/* Of the socket that was looked at: libzmq may have closed it since, and its number may be
 * another's. Out of descriptors for the copy, only the inode is compared. */
static bool cut(int fd, ino_t looked_at)
{
	AUTO_CLOSE int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int it = copy < 0 ? fd : copy;
	struct stat st;

	return fstat(it, &st) == 0 && st.st_ino == looked_at && shutdown(it, SHUT_RDWR) == 0;
}

/* A descriptor that was reused has received less, or is not a probe's. */
static void check_growth(struct slow_peer *e, int fd)
{
	struct stat st = { 0 };
	struct tcp_info info;
	struct connection *c = fstat(fd, &st) < 0 ? NULL : probe_of(e, fd, &info);

	if (!c)
		return;
	if (info.tcpi_bytes_received < c->received)
		c->received = 0;
	if (!c->heard && info.tcpi_bytes_received - c->received > LIMIT && cut(fd, st.st_ino))
		counter_add(C_CUT_ENDLESS, 1);
	if (c->heard)
		c->received = info.tcpi_bytes_received;
	c->heard = false;
}

static void check_silence(struct slow_peer *e, int fd)
{
	struct stat st = { 0 };
	struct tcp_info info;
	struct connection *c = fstat(fd, &st) < 0 ? NULL : probe_of(e, fd, &info);

	if (!c)
		return;
	if (c->inode != st.st_ino || c->spoke)
		c->silent = 0;
	else if (++c->silent >= SILENT && cut(fd, st.st_ino))
		counter_add(C_CUT_SILENT, 1);
	c->inode = st.st_ino;
	c->spoke = false;
}

static void each_descriptor(struct slow_peer *e, void (*what)(struct slow_peer *e, int fd))
{
	struct dirent *d;

	rewinddir(e->open);
	while ((d = readdir(e->open)))
		if (*d->d_name != '.')
			what(e, atoi(d->d_name));
}

void slow_peer_look(struct slow_peer *e)
{
	uint64_t now = memory(e), now_ns = clock_mono_ns();

	if (now_ns - e->swept_ns >= SWEEP_NS) {
		e->swept_ns = now_ns;
		each_descriptor(e, check_silence);
	}
	if (now < e->memory + LIMIT) {
		e->memory = now < e->memory ? now : e->memory;
		return;
	}
	e->memory = now;
	each_descriptor(e, check_growth);
}

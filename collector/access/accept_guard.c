// SPDX-License-Identifier: Apache-2.0
#include "collector/access/accept_guard.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "lib/base/log.h"
#include "collector/core/counters.h"

enum {
	HELD = 16, /* reserved for the console and the database while the guard is shut */
	ROOM = 8, /* free descriptors for connections that it takes to open again */
};

struct accept_guard {
	pthread_t thread;
	int listening_fd, told_fd;
	_Atomic bool stopping;
	bool shut;
	int held[HELD + ROOM], nheld;
};

/* Gives this thread a descriptor table of its own: these two descriptors and those for logs. */
static int unshare_descriptors(const struct accept_guard *d)
{
	unsigned low = (unsigned)(d->listening_fd < d->told_fd ? d->listening_fd : d->told_fd);
	unsigned high = (unsigned)(d->listening_fd < d->told_fd ? d->told_fd : d->listening_fd);

	if (close_range(high + 1, ~0u, CLOSE_RANGE_UNSHARE) < 0)
		return -errno;
	if (low > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	return 0;
}

static void refuse_waiting(int listening_fd)
{
	const struct linger at_once = { .l_onoff = 1 };
	int fd;

	while ((fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(fd);
		counter_add(C_TURNED_AWAY, 1);
	}
}

static void *run(void *guard)
{
	struct accept_guard *d = guard;
	int r = unshare_descriptors(d);
	eventfd_t n;

	if (r < 0) {
		log_warn(r, "the accept guard does not work: without file descriptors the "
			    "collector would spin");
		return NULL;
	}
	while (eventfd_read(d->told_fd, &n) == 0 && !atomic_load(&d->stopping))
		refuse_waiting(d->listening_fd);
	return NULL;
}

static void release_reserve(struct accept_guard *d, int keep)
{
	while (d->nheld > keep)
		close(d->held[--d->nheld]);
}

static bool hold_reserve(struct accept_guard *d)
{
	while (d->nheld < HELD + ROOM) {
		int fd = fcntl(d->told_fd, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			break;
		d->held[d->nheld++] = fd;
	}
	release_reserve(d, d->nheld == HELD + ROOM ? HELD : 0);
	return d->nheld > 0;
}

int accept_guard_open(struct accept_guard **out, int listening_fd)
{
	struct accept_guard *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		die("out of memory");
	d->listening_fd = listening_fd;
	d->told_fd = eventfd(0, EFD_CLOEXEC);
	r = d->told_fd < 0 ? -errno : 0;
	/* a waiting connection may be gone when the other thread accepts it */
	if (r == 0 && fcntl(listening_fd, F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	if (r == 0)
		r = -pthread_create(&d->thread, NULL, run, d);
	if (r == 0) {
		hold_reserve(d);
		*out = d;
		return 0;
	}
	close_autop(&d->told_fd);
	free(d);
	return r;
}

void accept_guard_close(struct accept_guard *d)
{
	if (!d)
		return;
	atomic_store(&d->stopping, true);
	(void)!eventfd_write(d->told_fd, 1);
	pthread_join(d->thread, NULL);
	release_reserve(d, 0);
	close(d->told_fd);
	free(d);
}

/* The kernel silently drops new connections, and clients retry after a second. Those that wait
 * already are reset; until then the reserve stays held, or libzmq would use it up. */
void accept_guard_shut(struct accept_guard *d)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog filter = { .len = 1, .filter = &nothing };

	if (!d->shut)
		setsockopt(d->listening_fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
	d->shut = true;
	(void)!eventfd_write(d->told_fd, 1);
}

void accept_guard_look(struct accept_guard *d)
{
	int unused = 0;

	if (!d->shut)
		return;
	release_reserve(d, 0);
	if (!hold_reserve(d))
		return;
	setsockopt(d->listening_fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused));
	d->shut = false;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/foreign/foreign_near.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#ifndef RESOLVE_CACHED /* since 5.12 */
#define RESOLVE_CACHED 0x20
#endif

enum {
	WAIT_MS = 20, /* for an answer about a file system: local ones take microseconds */
	STACK = 64 * 1024,
	PARTS = 64, /* components of a path */
};

/*
 * One thread calls fstatfs, which waits for the program behind a FUSE mount. While it waits, no
 * file system without a device counts as near.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	bool started, busy, known;
	int fd; /* the thread's */
	uint32_t type;
} judge = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static void *answer_questions(void *arg UNUSED)
{
	pthread_mutex_lock(&judge.lock);
	for (;;) {
		struct statfs fs = { 0 };
		int fd, r;

		while (judge.fd < 0)
			pthread_cond_wait(&judge.asked, &judge.lock);
		fd = judge.fd;
		pthread_mutex_unlock(&judge.lock);
		r = fstatfs(fd, &fs);
		close(fd);
		pthread_mutex_lock(&judge.lock);
		judge.fd = -1;
		judge.busy = false;
		judge.known = true;
		judge.type = r < 0 ? 0 : (uint32_t)fs.f_type;
		pthread_cond_signal(&judge.answered);
	}
	return NULL;
}

static bool start_judge(void)
{
	pthread_condattr_t clock;
	pthread_attr_t attr;
	pthread_t thread;

	if (judge.started)
		return true;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&judge.asked, NULL);
	pthread_cond_init(&judge.answered, &clock);
	pthread_condattr_destroy(&clock);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	judge.started = pthread_create(&thread, &attr, answer_questions, NULL) == 0;
	pthread_attr_destroy(&attr);
	return judge.started;
}

/* The type of a file system (statfs(2)); 0: no answer in time. */
static uint32_t ask_type(int place)
{
	struct timespec until;
	uint32_t type = 0;
	int r = 0;

	if (!start_judge())
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&judge.lock);
	if (!judge.busy) {
		judge.fd = fcntl(place, F_DUPFD_CLOEXEC, 0);
		judge.busy = judge.fd >= 0;
		judge.known = false;
		pthread_cond_signal(&judge.asked);
		while (judge.busy && r == 0)
			r = pthread_cond_timedwait(&judge.answered, &judge.lock, &until);
		type = judge.known ? judge.type : 0;
	}
	pthread_mutex_unlock(&judge.lock);
	return type;
}

int foreign_near(int place, bool own)
{
	static const uint32_t local[] = { 0x01021994 /* tmpfs */,     0x858458f6 /* ramfs */,
					  0x958458f6 /* hugetlbfs */, 0x9123683e /* btrfs */,
					  0x2fc12fc1 /* zfs */,	      0xca451a4e /* bcachefs */ };
	static const uint32_t overlay = 0x794c7630;
	struct statx st;
	uint32_t type;

	if (statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return -EREMOTE;
	if (st.stx_dev_major)
		return 0;
	type = ask_type(place);
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (type == local[i])
			return 0;
	return type == overlay && own ? 0 : -EREMOTE;
}

static int open_place(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Resolves one component after the other, each in a directory that is near. */
static int walk_near(int root, const char *path, bool own)
{
	char copy[PATH_MAX], *rest = copy, *part;
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 0), next, n = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	while (dir >= 0 && (part = strsep(&rest, "/"))) {
		if (!*part)
			continue;
		next = foreign_near(dir, own);
		if (next == 0)
			next = n++ < PARTS ? open_place(dir, part,
							RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)
					   : -ENAMETOOLONG;
		close(dir);
		dir = next;
	}
	return dir;
}

int foreign_walk(int root, const char *path, bool own)
{
	int fd = open_place(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED);

	return fd == -EAGAIN || fd == -EINVAL ? walk_near(root, path, own) : fd;
}

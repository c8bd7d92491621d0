// SPDX-License-Identifier: Apache-2.0
#include "probe/foreign/foreign_near.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#ifndef RESOLVE_CACHED /* since 5.12 */
#define RESOLVE_CACHED 0x20
#endif

enum {
	WAIT_MS = 20, /* for an answer about a file system: local ones take microseconds */
	STACK = 64 * 1024,
	JUDGES = 4,
	PARTS = 64, /* components of a path */
};

/*
 * Threads that call fstatfs, which waits for the program behind a FUSE mount, or for an NFS server.
 * A thread that waits takes no other question, and its file system is not asked again meanwhile, so
 * one that does not answer leaves the others to be asked about.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool ready;
	struct judge {
		pthread_cond_t asked;
		bool started, busy;
		dev_t dev; /* of the file system that is asked about */
		int fd; /* the thread's */
		uint32_t type;
	} judge[JUDGES];
} judges = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *answer_questions(void *arg)
{
	struct judge *j = arg;

	pthread_mutex_lock(&judges.lock);
	for (;;) {
		struct statfs fs = { 0 };
		int r;

		while (!j->busy)
			pthread_cond_wait(&j->asked, &judges.lock);
		pthread_mutex_unlock(&judges.lock);
		r = fstatfs(j->fd, &fs);
		close(j->fd);
		pthread_mutex_lock(&judges.lock);
		j->type = r < 0 ? 0 : (uint32_t)fs.f_type;
		j->busy = false;
		pthread_cond_signal(&judges.answered);
	}
	return NULL;
}

static void make_ready(void)
{
	pthread_condattr_t clock;

	if (judges.ready)
		return;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&judges.answered, &clock);
	pthread_condattr_destroy(&clock);
	judges.ready = true;
}

static bool start_judge(struct judge *j)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (j->started)
		return true;
	pthread_cond_init(&j->asked, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	j->started = pthread_create(&thread, &attr, answer_questions, j) == 0;
	pthread_attr_destroy(&attr);
	return j->started;
}

/* The first that has nothing to do; NULL: none, or one waits for this file system. */
static struct judge *free_judge(dev_t dev)
{
	struct judge *found = NULL;

	for (int i = 0; i < JUDGES; i++) {
		struct judge *j = &judges.judge[i];

		if (j->busy && j->dev == dev)
			return NULL;
		if (!j->busy && !found)
			found = j;
	}
	return found && start_judge(found) ? found : NULL;
}

/* Lets a thread ask, and waits for its answer. With the lock held. */
static uint32_t ask_judge(struct judge *j, int place, dev_t dev)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	j->fd = fcntl(place, F_DUPFD_CLOEXEC, 0);
	if (j->fd < 0)
		return 0;
	j->dev = dev;
	j->busy = true;
	pthread_cond_signal(&j->asked);
	while (j->busy && r == 0)
		r = pthread_cond_timedwait(&judges.answered, &judges.lock, &until);
	return j->busy ? 0 : j->type;
}

/* The type of a file system (statfs(2)); 0: no answer in time. */
static uint32_t ask_type(int place, dev_t dev)
{
	uint32_t type = 0;
	struct judge *j;

	pthread_mutex_lock(&judges.lock);
	make_ready();
	j = free_judge(dev);
	if (j)
		type = ask_judge(j, place, dev);
	pthread_mutex_unlock(&judges.lock);
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
	type = ask_type(place, makedev(st.stx_dev_major, st.stx_dev_minor));
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

// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/tools/act.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/fault/tools/account.h"

enum { MIB = 1 << 20 };

struct lock { /* somebody else's: taken for so long when a handler asks for it */
	pthread_mutex_t mutex, turn;
	sem_t wanted;
	volatile int ms, taken; /* how often it was taken */
	volatile int holder; /* its thread id */
};

static const char *files;
static struct sockaddr_in peer;
static struct shared *all;

uint64_t act_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (nanosleep(&t, &t) < 0)
		;
}

static void do_sleep(struct act *a)
{
	sleep_ms(a->ms);
}

/* So much time on a CPU, however long that takes. */
static void do_burn(struct act *a)
{
	struct timespec t;
	uint64_t start, now = 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	start = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	while (now < start + (uint64_t)a->ms * 1000000u) {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	}
}

static int open_file(struct act *a, const char *name, int flags)
{
	int fd;

	snprintf(a->what, sizeof(a->what), "%s/%s", files, name);
	fd = open(a->what, flags | O_CLOEXEC, 0600);
	if (fd < 0) {
		perror(a->what);
		exit(1);
	}
	return fd;
}

static void fill(int fd, int kb)
{
	static char block[MIB];

	for (size_t left = (size_t)kb * 1024; left;) {
		size_t n = left < MIB ? left : MIB;

		if (write(fd, block, n) != (ssize_t)n)
			break;
		left -= n;
	}
}

static void do_fsync(struct act *a)
{
	int fd = open_file(a, "ledger.dat", O_RDWR | O_CREAT);

	fill(fd, a->kb);
	a->start_ns = account_wall_ns();
	if (fsync(fd) < 0)
		perror("fsync");
	close(fd);
}

static void do_read(struct act *a)
{
	int fd = open_file(a, "catalog.dat", O_RDONLY);
	char *block = malloc(64 * 1024);

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* no reading ahead: each is a wait */
	for (int kb = 0; block && kb < a->kb; kb += 16)
		if (pread(fd, block, 16 * 1024, (off_t)kb * 1024) <= 0)
			break;
	free(block);
	close(fd);
}

/* Pages of a file, each of which takes the place of another that has to be written first. */
static void do_memory(struct act *a)
{
	int fd = open_file(a, "spill.dat", O_RDWR | O_CREAT);

	fill(fd, a->kb);
	close(fd);
}

static void *hold(void *arg)
{
	struct lock *l = arg;

	prctl(PR_SET_NAME, "lockholder");
	l->holder = gettid();
	for (;;) {
		while (sem_wait(&l->wanted) < 0)
			;
		pthread_mutex_lock(&l->mutex);
		l->taken++;
		sleep_ms(l->ms);
		pthread_mutex_unlock(&l->mutex);
	}
	return NULL;
}

static void do_lock(struct act *a)
{
	struct lock *l = all->lock;
	struct timespec nap = { 0, 50000 };
	int taken;

	pthread_mutex_lock(&l->turn); /* one at a time: one fault each */
	l->ms = a->ms;
	taken = l->taken;
	sem_post(&l->wanted);
	while (l->taken == taken)
		nanosleep(&nap, NULL);
	a->start_ns = account_wall_ns();
	pthread_mutex_lock(&l->mutex);
	pthread_mutex_unlock(&l->mutex);
	pthread_mutex_unlock(&l->turn);
	snprintf(a->who, sizeof(a->who), "lockholder[%d]", l->holder);
}

static void do_hold(struct act *a)
{
	all->hold_until = act_mono_ns() + (uint64_t)a->ms * 1000000u;
}

static void talk(int fd, struct act *a)
{
	char text[4096], *body;
	ssize_t got = 0, n, want = -1;
	int len = snprintf(text, sizeof(text), "GET /up%s?%s HTTP/1.1\r\nHost: up\r\n\r\n", a->path,
			   a->up_query);

	if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		return;
	while ((n = read(fd, text, sizeof(text) - 1)) > 0) {
		text[n] = 0;
		got += n;
		body = want < 0 ? strstr(text, "\r\n\r\n") : NULL;
		if (body) {
			const char *length = strcasestr(text, "Content-Length:");

			a->status = atoi(text + 9);
			want = body + 4 - text + (length ? atol(length + 15) : 0);
		}
		if (want >= 0 && got >= want)
			break;
	}
}

static void do_up(struct act *a)
{
	struct sockaddr_in to = peer, own;
	socklen_t len = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (a->port)
		to.sin_port = htons((uint16_t)a->port);
	snprintf(a->what, sizeof(a->what), "%s:%d", inet_ntoa(to.sin_addr), ntohs(to.sin_port));
	a->status = 502;
	if (connect(fd, (void *)&to, sizeof(to)) == 0) {
		if (getsockname(fd, (void *)&own, &len) == 0)
			a->up_port = ntohs(own.sin_port);
		talk(fd, a);
	}
	close(fd);
}

static const struct {
	const char *name;
	void (*run)(struct act *a);
} acts[] = {
	{ "sleep", do_sleep },	 { "burn", do_burn }, { "fsync", do_fsync }, { "read", do_read },
	{ "memory", do_memory }, { "lock", do_lock }, { "hold", do_hold },   { "up", do_up },
};

void act_run(struct act *a)
{
	uint64_t start = account_wall_ns();

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (strcmp(acts[i].name, a->name) == 0)
			acts[i].run(a);
	if (!a->start_ns) /* else it says itself when the wait began */
		a->start_ns = start;
	a->ns = account_wall_ns() - a->start_ns;
}

void act_after(const struct act *a)
{
	struct act to = { .kb = 0 };
	int fd;

	if (strcmp(a->name, "read") != 0)
		return;
	fd = open_file(&to, "catalog.dat", O_RDONLY);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static void lock_make(bool forks)
{
	pthread_mutexattr_t shared;
	struct lock *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	if (l == MAP_FAILED)
		exit(1);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&l->mutex, &shared);
	pthread_mutex_init(&l->turn, &shared);
	sem_init(&l->wanted, 1, 0);
	all->lock = l;
	if (!forks)
		pthread_create(&t, NULL, hold, l);
	else if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold(l);
	}
}

void act_open(const char *dir, const struct sockaddr_in *upstream, struct shared *s, bool forks)
{
	files = dir;
	peer = *upstream;
	all = s;
	lock_make(forks);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * foreign_server.c - an HTTP server of an outsider, for tests: each answer takes 60 ms of CPU in
 * generated code, so that the probe names the functions of its stack.
 *
 * foreign_server PORT [--mounts DIR N] [--files DIR N] [--lines N] [--descriptors N]
 *     [--processes N] [--threads N] [--listeners N] [--name NAME]
 *
 * --mounts: N bind mounts of DIR, each on the one before (in a mount namespace of its own).
 * --files: maps N files that it makes in DIR, executable. --lines: has about N mappings.
 * --descriptors: opens N descriptors. --processes, --threads: as many that only wait.
 * --listeners: N more sockets that listen. --name: its name in /proc. It does as many as it may.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BURN_MS = 60, PAGE = 4096, KEPT = 64 };

static void (*spin)(unsigned long times);

static void spin_here(unsigned long times)
{
	while (times--)
		__asm__ volatile("");
}

static void make_code(void)
{
	spin = spin_here;
#ifdef __x86_64__
	static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	memcpy(p, code, sizeof(code));
	if (mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0)
		memcpy(&spin, &p, sizeof(spin));
#endif
}

static void mount_often(const char *dir, int n)
{
	while (n-- > 0 && mount(dir, dir, NULL, MS_BIND, NULL) == 0)
		;
	if (n >= 0)
		perror(dir);
}

static void map_files(const char *dir, int n)
{
	char path[512];

	for (int i = 0; i < n; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/lib%d.so", dir, i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || ftruncate(fd, PAGE) < 0 ||
		    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			perror(path);
		if (fd >= 0)
			close(fd);
	}
}

/* Pages of alternating protection: each is a line in /proc/PID/maps. */
static void make_lines(size_t n)
{
	char *p = mmap(NULL, n * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; p != MAP_FAILED && i < n; i += 2)
		if (mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_EXEC) < 0)
			return;
}

static int room_for(int n)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	return r.rlim_max < (rlim_t)n + KEPT ? (int)r.rlim_max - KEPT : n;
}

static void open_many(int n)
{
	n = room_for(n);
	while (n-- > 0 && fcntl(0, F_DUPFD_CLOEXEC, 0) >= 0)
		;
}

static void listen_often(int n)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s;

	for (n = room_for(n); n > 0; n--) {
		s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 1) < 0)
			return;
	}
}

/* They end with this one. */
static void fork_many(int n)
{
	pid_t child = 1;

	while (n-- > 0 && (child = fork()) > 0)
		;
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void *wait_here(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_threads(int n)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	while (n-- > 0 && pthread_create(&t, &attr, wait_here, NULL) == 0)
		;
	pthread_attr_destroy(&attr);
}

static void burn_cpu(void)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + BURN_MS;
	do {
		spin(1000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < until);
}

static void serve_one(int fd)
{
	static const char answer[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
	char in[4096];

	if (read(fd, in, sizeof(in)) > 0) {
		burn_cpu();
		if (write(fd, answer, strlen(answer)) < 0)
			perror("write");
	}
	close(fd);
}

static void prepare(char *const option[])
{
	static const struct {
		const char *name;
		void (*fn)(int n);
	} many[] = { { "--descriptors", open_many },
		     { "--processes", fork_many },
		     { "--threads", start_threads },
		     { "--listeners", listen_often } };

	for (; *option; option++) {
		const char *value = option[1];

		for (size_t i = 0; value && i < sizeof(many) / sizeof(*many); i++)
			if (strcmp(*option, many[i].name) == 0)
				many[i].fn(atoi(value));
		if (strcmp(*option, "--mounts") == 0 && value && option[2])
			mount_often(value, atoi(option[2]));
		else if (strcmp(*option, "--files") == 0 && value && option[2])
			map_files(value, atoi(option[2]));
		else if (strcmp(*option, "--lines") == 0 && value)
			make_lines((size_t)atol(value));
		else if (strcmp(*option, "--name") == 0 && value)
			prctl(PR_SET_NAME, value);
	}
}

int main(int argc, char *argv[])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0), fd;

	a.sin_port = htons(argc > 1 ? (unsigned short)atoi(argv[1]) : 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	make_code();
	if (argc > 2)
		prepare(argv + 2);
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 64) < 0)
		return 1;
	while ((fd = accept(s, NULL, NULL)) >= 0)
		serve_one(fd);
	return 0;
}

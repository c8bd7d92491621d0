// SPDX-License-Identifier: Apache-2.0
/*
 * foreign_server.c - an HTTP server of an outsider, for tests: each answer takes 60 ms of CPU in
 * generated code, so that the probe names the functions of its stack.
 *
 * foreign_server PORT [--mounts DIR N] [--files DIR N] [--lines N] [--descriptors N]
 *
 * --mounts: N bind mounts of DIR, each on the one before (in a mount namespace of its own).
 * --files: maps N files that it makes in DIR, executable. --lines: has about N mappings.
 * --descriptors: opens N descriptors. It does as many as it may.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
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

static void open_many(int n)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	n = r.rlim_max < (rlim_t)n + KEPT ? (int)r.rlim_max - KEPT : n;
	while (n-- > 0 && fcntl(0, F_DUPFD_CLOEXEC, 0) >= 0)
		;
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

int main(int argc, char *argv[])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0), fd;

	a.sin_port = htons(argc > 1 ? (unsigned short)atoi(argv[1]) : 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	make_code();
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--mounts") == 0 && i + 2 < argc)
			mount_often(argv[i + 1], atoi(argv[i + 2]));
		else if (strcmp(argv[i], "--files") == 0 && i + 2 < argc)
			map_files(argv[i + 1], atoi(argv[i + 2]));
		else if (strcmp(argv[i], "--lines") == 0 && i + 1 < argc)
			make_lines((size_t)atol(argv[i + 1]));
		else if (strcmp(argv[i], "--descriptors") == 0 && i + 1 < argc)
			open_many(atoi(argv[i + 1]));
	}
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 64) < 0)
		return 1;
	while ((fd = accept(s, NULL, NULL)) >= 0)
		serve_one(fd);
	return 0;
}

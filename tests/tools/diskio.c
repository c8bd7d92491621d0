// SPDX-License-Identifier: Apache-2.0
/*
 * diskio.c - diskio DEVICE READS WRITES: so many direct reads of 64 KiB by one thread, so many
 * direct writes of 4 KiB by another that ends, and then it stops itself, as /proc/PID/io can be
 * read of what does nothing any more.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "lib/base/base.h"

enum { READ = 64 << 10, WRITTEN = 4 << 10 };

struct work {
	int fd, n;
};

static void *write_all(void *arg)
{
	const struct work *w = arg;
	void *page = aligned_alloc(WRITTEN, WRITTEN);

	memset(page, 'x', WRITTEN);
	for (int i = 0; i < w->n; i++)
		if (pwrite(w->fd, page, WRITTEN, (off_t)i * WRITTEN) != WRITTEN)
			perror("write");
	free(page);
	return NULL;
}

int main(int argc, char **argv)
{
	struct work w = { -1, argc > 3 ? atoi(argv[3]) : 0 };
	void *room = aligned_alloc(WRITTEN, READ);
	pthread_t writer;

	w.fd = argc == 4 ? open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC) : -1;
	if (w.fd < 0 || pthread_create(&writer, NULL, write_all, &w) != 0) {
		perror("diskio DEVICE READS WRITES");
		return 1;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		if (pread(w.fd, room, READ, (off_t)i * READ) != READ)
			perror("read");
	pthread_join(writer, NULL);
	raise(SIGSTOP);
	return 0;
}

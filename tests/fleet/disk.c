// SPDX-License-Identifier: Apache-2.0
/*
 * disk.c - disk BACKING FILE: makes of FILE, which is empty, one with the bytes of BACKING whose
 * every read, write and flush can be made to take longer, or to fail: a loop device over it is a
 * disk that grows slow on command.
 *
 * A file system of one file (FUSE), mounted on FILE itself, served by a few threads, so that what
 * is late does not wait for what else is late. Lines of standard input command it: a number, by
 * how many ms each is late; "fail": they fail; "0": all is well. Its end unmounts and ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, CHUNK = 128 * 1024, ROOM = CHUNK + 4096 };

static int fuse, file;
static atomic_int late_ms;
static atomic_bool failing;

static void answer(const struct fuse_in_header *in, int error, const void *data, size_t n)
{
	char out[ROOM];
	struct fuse_out_header h = { (uint32_t)(sizeof(h) + n), error, in->unique };

	memcpy(out, &h, sizeof(h));
	if (n)
		memcpy(out + sizeof(h), data, n);
	if (write(fuse, out, h.len) < 0 && errno != ENOENT)
		perror("disk: answer");
}

/* As a disk that is asked for bytes; 0 or -EIO. */
static int be_slow(void)
{
	int ms = late_ms;
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (ms && nanosleep(&t, &t) < 0)
		;
	return failing ? -EIO : 0;
}

static void do_init(const struct fuse_in_header *in, const struct fuse_init_in *i)
{
	struct fuse_init_out o = { .major = FUSE_KERNEL_VERSION,
				   .minor = FUSE_KERNEL_MINOR_VERSION,
				   .max_readahead = i->max_readahead,
				   .flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_MAX_PAGES,
				   .max_background = 32,
				   .congestion_threshold = 24,
				   .max_write = CHUNK,
				   .time_gran = 1,
				   .max_pages = CHUNK / 4096 };

	answer(in, 0, &o, sizeof(o));
}

static void do_getattr(const struct fuse_in_header *in)
{
	struct fuse_attr_out o = { .attr_valid = 3600 };
	struct stat st;

	if (fstat(file, &st) < 0) {
		answer(in, -errno, NULL, 0);
		return;
	}
	o.attr = (struct fuse_attr){ .ino = FUSE_ROOT_ID,
				     .size = (uint64_t)st.st_size,
				     .blocks = (uint64_t)st.st_blocks,
				     .mode = S_IFREG | 0600,
				     .nlink = 1,
				     .blksize = 4096 };
	answer(in, 0, &o, sizeof(o));
}

static void do_read(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	char data[CHUNK];
	size_t want = r->size < CHUNK ? r->size : CHUNK;
	int error = be_slow();
	ssize_t n = error ? 0 : pread(file, data, want, (off_t)r->offset);

	if (n < 0)
		error = -errno;
	answer(in, error, data, n > 0 ? (size_t)n : 0);
}

static void do_write(const struct fuse_in_header *in, const struct fuse_write_in *w)
{
	struct fuse_write_out o = { 0 };
	int error = be_slow();
	ssize_t n = error ? 0 : pwrite(file, w + 1, w->size, (off_t)w->offset);

	if (n < 0)
		error = -errno;
	o.size = n > 0 ? (uint32_t)n : 0;
	answer(in, error, error ? NULL : &o, error ? 0 : sizeof(o));
}

static void serve(const struct fuse_in_header *in, const void *arg)
{
	struct fuse_open_out opened = { .open_flags = FOPEN_DIRECT_IO };

	switch (in->opcode) {
	case FUSE_INIT:
		do_init(in, arg);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		do_getattr(in);
		break;
	case FUSE_OPEN:
		answer(in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		do_read(in, arg);
		break;
	case FUSE_WRITE:
		do_write(in, arg);
		break;
	case FUSE_FSYNC:
		answer(in, be_slow(), NULL, 0);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* nobody waits for an answer */
	default:
		answer(in, -ENOSYS, NULL, 0);
	}
}

static void *work(void *arg)
{
	_Alignas(8) char in[ROOM];

	for (;;) {
		ssize_t n = read(fuse, in, sizeof(in));

		if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			return arg; /* unmounted */
		serve((void *)in, in + sizeof(struct fuse_in_header));
	}
}

static void obey(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		failing = strncmp(line, "fail", 4) == 0;
		late_ms = atoi(line);
	}
}

int main(int argc, char *argv[])
{
	char options[96];
	pthread_t t;

	if (argc != 3) {
		fprintf(stderr, "usage: disk BACKING FILE\n");
		return 2;
	}
	file = open(argv[1], O_RDWR | O_CLOEXEC);
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=100000,user_id=0,group_id=0,max_read=%d",
		 fuse, CHUNK);
	if (file < 0 || fuse < 0 ||
	    mount("disk", argv[2], "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		perror("disk");
		return 1;
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, work, NULL) != 0)
			return 1;
	puts("ready");
	fflush(stdout);
	obey();
	return umount2(argv[2], MNT_DETACH) < 0;
}

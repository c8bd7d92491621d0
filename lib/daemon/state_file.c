// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/state_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/hash.h"

/* "SEISMOB", version, body, and a hash of all that, low byte first. */
enum { MAGIC = 7, HEAD = 8, TAIL = 8 };
static const char head[HEAD + 1] = "SEISMOB1";

int state_file_open(struct state_file *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	const char *name = slash ? slash + 1 : path;

	f->dir = -1;
	if (!*name || strlen(name) + strlen(".new") > NAME_MAX)
		return -ENAMETOOLONG;
	if (!slash)
		snprintf(dir, sizeof(dir), ".");
	else if (snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path) >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0 ? -errno : 0;
}

void state_file_close(struct state_file *f)
{
	if (f->dir >= 0)
		close(f->dir);
	f->dir = -1;
}

static int read_all(int fd, struct buf *out)
{
	unsigned char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (out->len + (size_t)n > STATE_MAX)
			return -EEXIST; /* larger than any file of ours */
		buf_put(out, chunk, (size_t)n);
	}
	return 0;
}

static uint64_t sum_of(const unsigned char *p, size_t len)
{
	return hash_end(hash_add(HASH_START, p, len));
}

static bool is_whole(const struct buf *b)
{
	uint64_t sum = 0;

	if (b->len < HEAD + TAIL || memcmp(b->data, head, HEAD) != 0)
		return false;
	for (int i = 0; i < TAIL; i++)
		sum |= (uint64_t)b->data[b->len - TAIL + (size_t)i] << 8 * i;
	return sum == sum_of(b->data, b->len - TAIL);
}

/* Leaves only the body in b. */
static int check_frame(struct buf *b)
{
	if (!b->len)
		return -ENOENT;
	if (memcmp(b->data, head, b->len < MAGIC ? b->len : MAGIC) != 0)
		return -EEXIST;
	if (!is_whole(b))
		return -EBADMSG;
	b->len -= HEAD + TAIL;
	memmove(b->data, b->data + HEAD, b->len);
	return 0;
}

int state_file_read(const struct state_file *f, struct buf *out)
{
	AUTO_CLOSE int fd = openat(f->dir, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return errno == ELOOP ? -EEXIST : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	buf_reset(out);
	r = read_all(fd, out);
	return r < 0 ? r : check_frame(out);
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int write_frame(int fd, const struct buf *body, bool sync)
{
	uint64_t sum = hash_end(hash_add(hash_add(HASH_START, head, HEAD), body->data, body->len));
	unsigned char tail[TAIL];
	int r = write_all(fd, head, HEAD);

	for (int i = 0; i < TAIL; i++)
		tail[i] = (unsigned char)(sum >> 8 * i);
	if (r == 0)
		r = write_all(fd, body->data, body->len);
	if (r == 0)
		r = write_all(fd, tail, TAIL);
	if (r == 0 && sync && fsync(fd) < 0)
		r = -errno;
	return r;
}

int state_file_write(const struct state_file *f, const struct buf *body, bool sync)
{
	char fresh[NAME_MAX + 8];
	AUTO_CLOSE int fd = -1;
	int r;

	if (body->len > STATE_MAX - HEAD - TAIL)
		return -EFBIG;
	snprintf(fresh, sizeof(fresh), "%s.new", f->name);
	unlinkat(f->dir, fresh, 0); /* left by a process that died here */
	fd = openat(f->dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_frame(fd, body, sync);
	if (r == 0 && renameat(f->dir, fresh, f->dir, f->name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(f->dir, fresh, 0);
	else if (sync && fsync(f->dir) < 0)
		r = -errno;
	return r;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/custom/custom_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static int check_owner(const struct stat *st, const char *path, char *err, size_t errlen)
{
	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		snprintf(err, errlen,
			 "user %u owns %s, which goes into the kernel: chown root it, if you "
			 "trust it",
			 (unsigned)st->st_uid, path);
		return -EPERM;
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		snprintf(err, errlen,
			 "others may write %s, which goes into the kernel: chmod go-w it", path);
		return -EPERM;
	}
	return 0;
}

int custom_dir_open(const char *path, char *err, size_t errlen)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0, out;
	struct stat st;

	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r < 0) {
		snprintf(err, errlen, "%s cannot be read: %s; --programs names another", path,
			 strerror(-r));
		return r;
	}
	r = check_owner(&st, path, err, errlen);
	if (r < 0)
		return r;
	out = fd;
	fd = -1;
	return out;
}

static int read_all(int fd, size_t size, struct buf *out)
{
	buf_reset(out);
	while (out->len < size) {
		unsigned char *p = buf_add(out, size - out->len);
		size_t before = (size_t)(p - out->data);
		ssize_t n = read(fd, p, size - before);

		out->len = before + (n > 0 ? (size_t)n : 0);
		if (n < 0)
			return -errno;
		if (n == 0) /* the file was truncated */
			return -EAGAIN;
	}
	return 0;
}

int custom_file_read(int dir, const char *path, const char *name, size_t max, struct buf *out,
		     char *err, size_t errlen)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;
	char whole[256];
	struct stat st;

	snprintf(whole, sizeof(whole), "%s/%s", path, name);
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r == -ELOOP || (r == 0 && !S_ISREG(st.st_mode))) {
		snprintf(err, errlen, "%s is not a regular file; links are not followed", whole);
		return -EINVAL;
	}
	if (r == 0)
		r = check_owner(&st, whole, err, errlen);
	if (r < 0 && fd >= 0)
		return r;
	if (r == 0 && (size_t)st.st_size > max) {
		snprintf(err, errlen, "%s has %lld bytes: at most %zu are allowed", whole,
			 (long long)st.st_size, max);
		return -EFBIG;
	}
	if (r == 0)
		r = read_all(fd, (size_t)st.st_size, out);
	if (r < 0)
		snprintf(err, errlen, "%s cannot be read: %s", whole, strerror(-r));
	return r;
}

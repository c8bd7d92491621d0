// SPDX-License-Identifier: Apache-2.0
#include "probe/foreign/foreign.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "probe/foreign/foreign_near.h"

enum { REFUSED = 256, COMM = 16, LOGGED = 8 };
#define REFUSED_NS (600 * 1000000000ull)
#define LOG_NS (3600 * 1000000000ull)

#define KB 1024ull
#define MB (1024 * KB)

const struct foreign_limit foreign_limits[FOREIGN_KINDS] = {
	[FOREIGN_CODE] = { "ELF file", 256 * MB, 4096, 256 * KB, 0 },
	[FOREIGN_PERF_MAP] = { "perf map", 64 * MB, 0, 256 * KB, 0 },
	[FOREIGN_MAPS] = { "list of mappings", 0, 16384, 0, 512 },
	[FOREIGN_TEXT] = { "file of a process", 64 * KB, 0, 64 * KB, 0 },
	[FOREIGN_FILES] = { "list of open files", 0, 65536, 0, 8192 },
};

struct refused_program {
	uint64_t n; /* 0: unused */
	uint64_t used; /* number of the last refusal */
	enum foreign_kind kind;
	int error;
	char comm[COMM];
};

static struct {
	uint64_t count[FOREIGN_KINDS], logged_ns[FOREIGN_KINDS];
	uint32_t logged[FOREIGN_KINDS];
	struct refused_program program[FOREIGN_NAMED]; /* the one refused longest ago is replaced */
	struct refused {
		struct foreign_id id;
		uint64_t until_ns;
	} file[REFUSED]; /* the oldest is overwritten */
	uint32_t next;
} refusals;

bool foreign_id_equal(const struct foreign_id *a, const struct foreign_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->written.tv_sec == b->written.tv_sec && a->written.tv_nsec == b->written.tv_nsec;
}

bool foreign_is_refused(const struct foreign_id *id)
{
	uint64_t now = refusals.next ? clock_mono_ns() : 0;

	for (uint32_t i = 0; i < REFUSED && i < refusals.next; i++)
		if (now < refusals.file[i].until_ns && foreign_id_equal(&refusals.file[i].id, id))
			return true;
	return false;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -EFBIG:
		return "it is too large";
	case -ENODATA:
		return "it has holes";
	case -EREMOTE:
		return "its file system may make the probe wait";
	case -ENOENT:
		return "it is no regular file";
	default:
		return strerror(-error);
	}
}

static void read_comm(const char *procfs, uint32_t pid, char comm[static COMM])
{
	char raw[64];
	ssize_t n = foreign_read_text(procfs, pid, "comm", raw, sizeof(raw));

	comm[0] = 0;
	text_clean_into(comm, COMM, raw, n > 0 ? strcspn(raw, "\n") : 0);
	if (!comm[0])
		snprintf(comm, COMM, "a process");
}

/* LOGGED of a kind in an hour: an outsider must not fill the log. */
static void log_refusal(enum foreign_kind kind, int error, uint32_t pid, const char *comm)
{
	uint64_t now = clock_mono_ns();

	if (!refusals.logged_ns[kind] || now - refusals.logged_ns[kind] >= LOG_NS) {
		refusals.logged_ns[kind] = now;
		refusals.logged[kind] = 0;
	}
	if (refusals.logged[kind]++ >= LOGGED)
		return;
	log_warn(
		0,
		"refused to read the %s of %s (pid %u): %s; it is counted in foreign_files_refused",
		foreign_limits[kind].name, comm, pid, reason_of(error));
}

static void note_program(enum foreign_kind kind, int error, const char *comm)
{
	struct refused_program *at = &refusals.program[0];

	for (size_t i = 0; i < FOREIGN_NAMED; i++) {
		struct refused_program *p = &refusals.program[i];

		if (p->n && p->kind == kind && strcmp(p->comm, comm) == 0) {
			at = p;
			break;
		}
		if (p->used < at->used)
			at = p;
	}
	if (at->kind != kind || strcmp(at->comm, comm) != 0)
		*at = (struct refused_program){ .kind = kind };
	at->n++;
	at->used = foreign_refused();
	at->error = error;
	snprintf(at->comm, COMM, "%s", comm);
}

void foreign_refuse(enum foreign_kind kind, int error, const char *procfs, uint32_t pid,
		    const struct foreign_id *id)
{
	char comm[COMM];

	refusals.count[kind]++;
	if (id)
		refusals.file[refusals.next++ % REFUSED] =
			(struct refused){ *id, clock_mono_ns() + REFUSED_NS };
	read_comm(procfs, pid, comm);
	note_program(kind, error, comm);
	log_refusal(kind, error, pid, comm);
}

uint64_t foreign_refused_of(enum foreign_kind kind)
{
	return refusals.count[kind];
}

uint64_t foreign_refused(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < FOREIGN_KINDS; i++)
		sum += refusals.count[i];
	return sum;
}

void foreign_list_refused(struct buf *text)
{
	for (size_t i = 0; i < FOREIGN_NAMED; i++) {
		const struct refused_program *p = &refusals.program[i];
		char line[256];
		int len;

		if (!p->n)
			continue;
		len = snprintf(line, sizeof(line), "%llu %s\t%s\t%s\n", (unsigned long long)p->n,
			       foreign_limits[p->kind].name, p->comm, reason_of(p->error));
		buf_put(text, line, (size_t)len);
	}
}

int foreign_open_text_at(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int foreign_open_text(const char *procfs, uint32_t pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u/%s", procfs, pid, name);
	return foreign_open_text_at(AT_FDCWD, path);
}

DIR *foreign_list(const char *procfs, uint32_t pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u/%s", procfs, pid, name);
	return opendir(path);
}

uint64_t foreign_namespace(const char *procfs, uint32_t pid, const char *name)
{
	char path[PATH_MAX], who[16] = "self";
	struct stat st;

	if (pid)
		snprintf(who, sizeof(who), "%u", pid);
	snprintf(path, sizeof(path), "%s/%s/ns/%s", procfs, who, name);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

ssize_t foreign_read_text(const char *procfs, uint32_t pid, const char *name, char *text,
			  size_t size)
{
	AUTO_CLOSE int fd = foreign_open_text(procfs, pid, name);
	size_t max = foreign_limits[FOREIGN_TEXT].bytes, len = 0;
	ssize_t n = 0;

	text[0] = 0;
	if (fd < 0)
		return fd;
	max = size - 1 < max ? size - 1 : max;
	while (len < max && (n = read(fd, text + len, max - len)) > 0)
		len += (size_t)n;
	text[len] = 0;
	return n < 0 ? -errno : (ssize_t)len;
}

/* Opens the file behind an O_PATH descriptor without resolving its path again. */
static int open_regular(int place, bool own, struct foreign_id *id)
{
	char self[64];
	struct stat st;
	int fd, r = foreign_near(place, own);

	if (r < 0)
		return r;
	if (fstat(place, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	*id = (struct foreign_id){ st.st_dev, st.st_ino, (uint64_t)st.st_size, st.st_mtim };
	if (foreign_is_refused(id))
		return -EPERM;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int count_far(enum foreign_kind kind, int r, const char *procfs, uint32_t pid)
{
	if (r == -EREMOTE)
		foreign_refuse(kind, r, procfs, pid, NULL);
	return r;
}

/* Whether the process is in our user namespace. */
static bool is_own_space(const char *procfs, uint32_t pid)
{
	uint64_t its = foreign_namespace(procfs, pid, "user");

	return its && its == foreign_namespace("/proc", 0, "user");
}

int foreign_open_program(const char *procfs, uint32_t pid, struct foreign_id *id)
{
	AUTO_CLOSE int place = -1;
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%u/exe", procfs, pid);
	place = open(name, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -errno;
	return count_far(FOREIGN_CODE, open_regular(place, is_own_space(procfs, pid), id), procfs,
			 pid);
}

int foreign_open_path(enum foreign_kind kind, const char *procfs, uint32_t pid, const char *path,
		      struct foreign_id *id)
{
	AUTO_CLOSE int root = -1, place = -1;
	bool own = is_own_space(procfs, pid);
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%u/root", procfs, pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	place = foreign_walk(root, path, own);
	return count_far(kind, place < 0 ? place : open_regular(place, own, id), procfs, pid);
}

ssize_t foreign_read(int fd, void *out, size_t len, uint64_t at)
{
	bool no_more;
	off_t data;
	ssize_t n;

	if (at > INT64_MAX)
		return -EFBIG;
	data = lseek(fd, (off_t)at, SEEK_DATA);
	no_more = data < 0 && errno == ENXIO; /* a hole up to the end, or the end */
	if (data > (off_t)at)
		return -ENODATA;
	n = pread(fd, out, len, (off_t)at);
	if (n < 0)
		return -errno;
	return n > 0 && no_more ? -ENODATA : n;
}

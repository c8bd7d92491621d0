// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/proc_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { LINES = 16384, LINE = 4352, DEV = 32, TEXT = 4096 };

bool mapping_read(const char *line, size_t len, struct mapping *m)
{
	unsigned int major, minor;
	char mode[5] = "", text[LINE];
	int at = 0;

	len = len < sizeof(text) ? len : sizeof(text) - 1;
	memcpy(text, line, len);
	text[len] = 0;
	text[strcspn(text, "\n")] = 0;
	*m = (struct mapping){ 0 };
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		   &m->end, mode, &m->offset, &major, &minor, &m->ino, &at) < 7 ||
	    mode[2] != 'x' || m->end < m->start)
		return false;
	m->dev = major << 20 | (minor & 0xfffff);
	snprintf(m->path, sizeof(m->path), "%.*s", PROC_CODE_PATH - 1, text + at);
	return true;
}

static FILE *open_text(const char *procfs, uint32_t pid, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u/%s", procfs, pid, name);
	return fopen(path, "re");
}

int proc_code_each(const char *procfs, uint32_t pid,
		   bool (*on_mapping)(void *, const struct mapping *), void *arg)
{
	FILE *f = open_text(procfs, pid, "maps");
	char line[LINE];
	struct mapping m;

	if (!f)
		return -errno;
	for (int i = 0; i < LINES && fgets(line, sizeof(line), f); i++)
		if (mapping_read(line, strlen(line), &m) && !on_mapping(arg, &m))
			break;
	fclose(f);
	return 0;
}

/* File systems whose answer may come late or never. */
static bool is_far_type(const char *type)
{
	static const char *const far[] = { "fuse", "nfs", "cifs", "smb",
					   "ceph", "9p",  "afs",  "lustre" };

	for (size_t i = 0; i < ARRAY_SIZE(far); i++)
		if (strncmp(type, far[i], strlen(far[i])) == 0)
			return true;
	return false;
}

/* By the mounts of the process; a device that is not mounted belongs to a local file system. */
static bool is_far(const char *procfs, uint32_t pid, uint32_t dev)
{
	FILE *f = open_text(procfs, pid, "mountinfo");
	char line[LINE], name[DEV];
	bool far = false, found = false;

	snprintf(name, sizeof(name), " %u:%u ", dev >> 20, dev & 0xfffff);
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		found = strstr(line, name) && type;
		far = found && is_far_type(type + 3);
	}
	if (f)
		fclose(f);
	return far;
}

/* Opens the file behind an O_PATH descriptor: resolves no path, and does not block. */
static int open_regular(int place, struct stat *st)
{
	char self[64];
	int fd;

	if (fstat(place, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -ENOENT;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_in_root(const char *procfs, uint32_t pid, const char *path, struct stat *st)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	AUTO_CLOSE int root = -1, place = -1;
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%u/root", procfs, pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	place = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return place < 0 ? -errno : open_regular(place, st);
}

/* The program of the process, even if deleted; a deleted library cannot be opened. */
static int open_program(const char *procfs, uint32_t pid, struct stat *st)
{
	AUTO_CLOSE int place = -1;
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%u/exe", procfs, pid);
	place = open(name, O_PATH | O_CLOEXEC);
	return place < 0 ? -errno : open_regular(place, st);
}

int proc_code_open(const char *procfs, uint32_t pid, const struct mapping *m, bool same)
{
	bool deleted = strstr(m->path, " (deleted)");
	struct stat st;
	int fd;

	if (m->dev >> 20 == 0 && is_far(procfs, pid, m->dev))
		return -EREMOTE;
	fd = deleted ? open_program(procfs, pid, &st) : open_in_root(procfs, pid, m->path, &st);
	if (fd >= 0 && (same || deleted) && st.st_ino != m->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* The text after the name of the field, "" if there is no such field. */
static const char *status_field(const char *procfs, uint32_t pid, const char *field,
				char text[static TEXT])
{
	FILE *f = open_text(procfs, pid, "status");
	const char *at;
	size_t n;

	n = f ? fread(text, 1, TEXT - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	at = strstr(text, field);
	return at ? at + strlen(field) : "";
}

uint32_t proc_code_parent(const char *procfs, uint32_t pid)
{
	char text[TEXT];

	return (uint32_t)strtoul(status_field(procfs, pid, "\nPPid:\t", text), NULL, 10);
}

/* The pid in the innermost pid namespace of the process: the last number on the line. */
static unsigned long inner_pid(const char *procfs, uint32_t pid)
{
	char text[TEXT];
	const char *p = status_field(procfs, pid, "\nNSpid:", text);
	unsigned long last = pid;

	while (*p == '\t') {
		char *end;

		last = strtoul(p, &end, 10);
		p = end;
	}
	return last;
}

int proc_code_open_perf_map(const char *procfs, uint32_t pid)
{
	char text[TEXT], path[64];
	unsigned long real, effective;
	struct stat st;
	int fd;

	if (sscanf(status_field(procfs, pid, "\nUid:", text), "%lu %lu", &real, &effective) != 2)
		return -ESRCH;
	snprintf(path, sizeof(path), "tmp/perf-%lu.map", inner_pid(procfs, pid));
	fd = open_in_root(procfs, pid, path, &st);
	if (fd >= 0 && st.st_uid != effective) { /* written by another user */
		close(fd);
		return -EPERM;
	}
	return fd;
}

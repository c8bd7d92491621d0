// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/proc_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	LINE = 4352,
	TEXT = 4096,
	AT_ONCE = 1024, /* some ten lines: each costs the more, the deeper its file is mounted */
};

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

int proc_code_begin(struct proc_code *c, const char *procfs, uint32_t pid)
{
	int fd;

	proc_code_end(c);
	fd = foreign_open_text(procfs, pid, "maps");
	if (fd < 0)
		return fd;
	c->fd = fd + 1;
	c->pid = pid;
	return 0;
}

void proc_code_end(struct proc_code *c)
{
	if (c->fd)
		close(c->fd - 1);
	c->fd = 0;
	c->lines = 0;
	c->at = c->len = 0;
}

/* Reads on behind the incomplete line, which moves to the front. False: the end. */
static bool read_piece(struct proc_code *c)
{
	size_t left = c->len - c->at, room;
	ssize_t n;

	memmove(c->piece, c->piece + c->at, left);
	c->at = 0;
	c->len = left;
	room = sizeof(c->piece) - left < AT_ONCE ? sizeof(c->piece) - left : AT_ONCE;
	n = read(c->fd - 1, c->piece + left, room);
	c->len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

int proc_code_next(struct proc_code *c, const char *procfs, uint32_t *lines, struct mapping *m)
{
	while (c->fd && *lines) {
		const char *line = c->piece + c->at;
		const char *end = memchr(line, '\n', c->len - c->at);

		if (!end && read_piece(c))
			continue;
		if (!end)
			break;
		c->at += (size_t)(end - line) + 1;
		--*lines;
		if (++c->lines > foreign_limits[FOREIGN_MAPS].entries) {
			foreign_refuse(FOREIGN_MAPS, -EFBIG, procfs, c->pid, NULL);
			break;
		}
		if (mapping_read(line, (size_t)(end - line), m))
			return 1;
	}
	if (c->fd && !*lines)
		return 0;
	proc_code_end(c);
	return -ENOENT;
}

int proc_code_open(const char *procfs, uint32_t pid, const struct mapping *m, bool same,
		   struct foreign_id *id)
{
	bool deleted = strstr(m->path, " (deleted)");
	int fd = deleted ? foreign_open_program(procfs, pid, id)
			 : foreign_open_path(FOREIGN_CODE, procfs, pid, m->path, id);

	if (fd >= 0 && (same || deleted) && id->ino != m->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* The text after the name of the field, "" if there is no such field. */
static const char *status_field(const char *procfs, uint32_t pid, const char *field,
				char text[static TEXT])
{
	const char *at = NULL;

	if (foreign_read_text(procfs, pid, "status", text, TEXT) > 0)
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

int proc_code_open_perf_map(const char *procfs, uint32_t pid, struct foreign_id *id)
{
	char text[TEXT], path[64];
	unsigned long real, effective;
	struct stat st;
	int fd;

	if (sscanf(status_field(procfs, pid, "\nUid:", text), "%lu %lu", &real, &effective) != 2)
		return -ESRCH;
	snprintf(path, sizeof(path), "tmp/perf-%lu.map", inner_pid(procfs, pid));
	fd = foreign_open_path(FOREIGN_PERF_MAP, procfs, pid, path, id);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != effective)) {
		close(fd); /* written by another user */
		return -EPERM;
	}
	return fd;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_discovery.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum { PROCESSES = 1024, FILES = 256, PATH_ROOM = 64, START_BYTES = 64 << 20 };
#define RECHECK_NS (60 * 1000000000ull) /* a process may have executed another program */
#define AGAIN_NS (100 * 1000000ull) /* while another file is read */

struct process {
	uint32_t tgid; /* 0: none */
	int number;
	uint64_t until_ns; /* checked again then */
};

struct nginx_discovery {
	const char *procfs;
	struct nginx_hooks hooks;
	struct process process[PROCESSES]; /* direct-mapped cache */
	struct foreign_id other[FILES]; /* files that are not nginx, likewise */
	struct nginx_search *search; /* NULL: no file is being read */
	struct foreign_id searched;
	int fd; /* of that file */
	uint32_t pid; /* that ran it */
	size_t bytes; /* that may be read in this turn */
};

struct nginx_discovery *nginx_discovery_new(const char *procfs, const struct nginx_hooks *hooks)
{
	struct nginx_discovery *w = calloc(1, sizeof(*w));

	if (!w)
		die("out of memory");
	w->procfs = procfs;
	w->hooks = *hooks;
	w->bytes = foreign_limits[FOREIGN_CODE].step_bytes;
	return w;
}

static void end_search(struct nginx_discovery *w)
{
	if (w->search)
		close(w->fd);
	nginx_search_free(w->search);
	w->search = NULL;
}

void nginx_discovery_free(struct nginx_discovery *w)
{
	if (w)
		end_search(w);
	free(w);
}

static struct foreign_id *other_slot(struct nginx_discovery *w, const struct foreign_id *f)
{
	uint64_t h =
		hash_add(hash_add(HASH_START, &f->dev, sizeof(f->dev)), &f->ino, sizeof(f->ino));

	return &w->other[hash_end(h) % FILES];
}

/* Reads on; the number of the file, -EAGAIN: not known yet, or -1. */
static int search_file(struct nginx_discovery *w)
{
	struct nginx_elf elf;
	char path[PATH_ROOM];
	int r = nginx_search_step(w->search, &w->bytes, &elf);

	if (r == 0)
		return -EAGAIN;
	if (r == -ENODATA)
		foreign_refuse(FOREIGN_CODE, r, w->procfs, w->pid, &w->searched);
	if (r < 0) {
		*other_slot(w, &w->searched) = w->searched;
		r = -1;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
		r = w->hooks.found(w->hooks.arg, &w->searched, &elf, path);
	}
	end_search(w);
	return r;
}

static int check_file(struct nginx_discovery *w, uint32_t tgid)
{
	struct foreign_id f;
	int fd = foreign_open_program(w->procfs, tgid, &f), number = -1;

	if (fd < 0)
		return -1;
	if (!foreign_id_equal(other_slot(w, &f), &f))
		number = w->hooks.known(w->hooks.arg, &f);
	if (number >= 0 || foreign_id_equal(other_slot(w, &f), &f) || w->search) {
		bool again = number < 0 && w->search;

		close(fd);
		return again ? -EAGAIN : number;
	}
	w->search = nginx_search_new(fd);
	w->searched = f;
	w->fd = fd;
	w->pid = tgid;
	return search_file(w);
}

int nginx_discovery_process(struct nginx_discovery *w, uint32_t tgid, uint64_t now_ns)
{
	struct process *p = &w->process[tgid % PROCESSES];

	if (p->tgid == tgid && now_ns < p->until_ns)
		return p->number;
	*p = (struct process){ tgid, check_file(w, tgid), now_ns + RECHECK_NS };
	if (p->number == -EAGAIN)
		*p = (struct process){ tgid, -1, now_ns + AGAIN_NS };
	return p->number;
}

void nginx_discovery_forget(struct nginx_discovery *w, int number)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (w->process[i].number == number)
			w->process[i].tgid = 0;
}

void nginx_discovery_step(struct nginx_discovery *w)
{
	w->bytes = foreign_limits[FOREIGN_CODE].step_bytes;
	if (w->search)
		search_file(w);
}

void nginx_discovery_all(struct nginx_discovery *w, uint64_t now_ns)
{
	DIR *d = opendir(w->procfs);
	const struct dirent *e;

	w->bytes = START_BYTES;
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			nginx_discovery_process(w, (uint32_t)strtoul(e->d_name, NULL, 10), now_ns);
	if (d)
		closedir(d);
}

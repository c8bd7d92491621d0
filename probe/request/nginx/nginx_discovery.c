// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_discovery.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"

enum { PROCESSES = 1024, FILES = 256, PATH_ROOM = 64 };
#define RECHECK_NS (60 * 1000000000ull) /* a process may have executed another program */

struct process {
	uint32_t tgid; /* 0: none */
	int number;
	uint64_t seen_ns;
};

struct nginx_discovery {
	const char *procfs;
	struct nginx_hooks hooks;
	struct process process[PROCESSES]; /* direct-mapped cache */
	struct nginx_file other[FILES]; /* files that are not nginx, likewise */
};

bool nginx_file_equal(const struct nginx_file *a, const struct nginx_file *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->written.tv_sec == b->written.tv_sec && a->written.tv_nsec == b->written.tv_nsec;
}

struct nginx_discovery *nginx_discovery_new(const char *procfs, const struct nginx_hooks *hooks)
{
	struct nginx_discovery *w = calloc(1, sizeof(*w));

	if (!w)
		die("out of memory");
	w->procfs = procfs;
	w->hooks = *hooks;
	return w;
}

void nginx_discovery_free(struct nginx_discovery *w)
{
	free(w);
}

static struct nginx_file *other_slot(struct nginx_discovery *w, const struct nginx_file *f)
{
	uint64_t h =
		hash_add(hash_add(HASH_START, &f->dev, sizeof(f->dev)), &f->ino, sizeof(f->ino));

	return &w->other[hash_end(h) % FILES];
}

static int check_file(struct nginx_discovery *w, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct nginx_elf elf;
	struct nginx_file f;
	struct stat st;
	int number;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	f = (struct nginx_file){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
	if (nginx_file_equal(other_slot(w, &f), &f))
		return -1;
	number = w->hooks.known(w->hooks.arg, &f);
	if (number >= 0)
		return number;
	if (nginx_elf_read(fd, &elf) == 0)
		return w->hooks.found(w->hooks.arg, &f, &elf, path);
	*other_slot(w, &f) = f;
	return -1;
}

int nginx_discovery_process(struct nginx_discovery *w, uint32_t tgid, uint64_t now_ns)
{
	struct process *p = &w->process[tgid % PROCESSES];
	char path[PATH_ROOM];

	if (p->tgid == tgid && now_ns - p->seen_ns < RECHECK_NS)
		return p->number;
	snprintf(path, sizeof(path), "%s/%u/exe", w->procfs, tgid);
	*p = (struct process){ tgid, check_file(w, path), now_ns };
	return p->number;
}

void nginx_discovery_forget(struct nginx_discovery *w, int number)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (w->process[i].number == number)
			w->process[i].tgid = 0;
}

void nginx_discovery_all(struct nginx_discovery *w, uint64_t now_ns)
{
	DIR *d = opendir(w->procfs);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			nginx_discovery_process(w, (uint32_t)strtoul(e->d_name, NULL, 10), now_ns);
	if (d)
		closedir(d);
}

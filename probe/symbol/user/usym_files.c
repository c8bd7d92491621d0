// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/usym_files.h"

#include <limits.h>
#include <stdio.h>

#include "lib/base/log.h"

enum { FILES = 192, FUNCTIONS = 512 };

struct usym_files {
	char procfs[PATH_MAX - 64];
	uint32_t users, serial;
	uint64_t uses;
	uint32_t next_function;
	struct code_file file[FILES];
	struct code_function function[FUNCTIONS];
};

/* Shared by all users of the same procfs: they see the same files. */
static struct usym_files *shared;

struct usym_files *usym_files_new(const char *procfs)
{
	struct usym_files *f;

	if (shared && strcmp(shared->procfs, procfs) == 0) {
		shared->users++;
		return shared;
	}
	f = calloc(1, sizeof(*f));

	if (!f)
		die("out of memory");
	snprintf(f->procfs, sizeof(f->procfs), "%s", procfs);
	f->users = 1;
	if (!shared)
		shared = f;
	return f;
}

void usym_files_free(struct usym_files *f)
{
	if (!f || --f->users)
		return;
	if (f == shared)
		shared = NULL;
	free(f);
}

static struct code_file *find_file(struct usym_files *f, const struct mapping *m)
{
	for (size_t i = 0; i < FILES; i++) {
		struct code_file *c = &f->file[i];

		if (c->serial && c->map.ino == m->ino && c->map.dev == m->dev)
			return c;
	}
	return NULL;
}

static struct code_file *unused_longest(struct usym_files *f)
{
	struct code_file *c = &f->file[0];

	for (size_t i = 1; i < FILES; i++)
		if (f->file[i].used < c->used)
			c = &f->file[i];
	return c;
}

/* Tries the root of the process, that of its parent, and ours, which contains a chroot. */
static int open_somewhere(struct usym_files *f, uint32_t pid, uint32_t keeper,
			  const struct mapping *m)
{
	int fd = proc_code_open(f->procfs, pid, m, false);

	if (fd < 0 && fd != -EREMOTE && keeper)
		fd = proc_code_open(f->procfs, keeper, m, true);
	if (fd < 0 && fd != -EREMOTE)
		fd = proc_code_open(f->procfs, (uint32_t)getpid(), m, true);
	return fd;
}

const struct code_file *usym_files_of(struct usym_files *f, uint32_t pid, const struct mapping *m,
				      uint32_t *opens)
{
	struct code_file *c = find_file(f, m);
	AUTO_CLOSE int fd = -1;
	struct elf_file e;

	if (c) {
		c->used = ++f->uses;
		return c;
	}
	if (!*opens)
		return NULL;
	--*opens;
	fd = open_somewhere(f, pid, 0, m);
	if (fd < 0 || elf_file_open(&e, fd) < 0)
		return NULL;
	c = unused_longest(f);
	*c = (struct code_file){ .serial = ++f->serial ? f->serial : ++f->serial,
				 .keeper = proc_code_parent(f->procfs, pid),
				 .used = ++f->uses,
				 .map = *m };
	memcpy(c->build_id, e.build_id, sizeof(c->build_id));
	return c;
}

const struct code_file *usym_files_by_id(struct usym_files *f, const uint8_t id[static ELF_FILE_ID])
{
	for (size_t i = 0; i < FILES; i++) {
		struct code_file *c = &f->file[i];

		if (!c->serial || memcmp(c->build_id, id, ELF_FILE_ID) != 0)
			continue;
		c->used = ++f->uses;
		return c;
	}
	return NULL;
}

const struct code_file *usym_files_at(const struct usym_files *f, uint32_t serial)
{
	for (size_t i = 0; serial && i < FILES; i++)
		if (f->file[i].serial == serial)
			return &f->file[i];
	return NULL;
}

/* Another file has this path now: forgets the recorded one. */
static void forget_file(struct usym_files *f, uint32_t serial)
{
	for (size_t i = 0; i < FILES; i++)
		if (f->file[i].serial == serial)
			f->file[i] = (struct code_file){ 0 };
}

int usym_files_open(struct usym_files *f, uint32_t pid, const struct code_file *c,
		    struct elf_file *out)
{
	AUTO_CLOSE int fd = open_somewhere(f, pid, c->keeper, &c->map);
	struct elf_file e;
	int r;

	if (fd < 0)
		return fd;
	r = elf_file_open(&e, fd);
	if (r == 0 && memcmp(e.build_id, c->build_id, sizeof(e.build_id)) != 0) {
		forget_file(f, c->serial);
		r = -ESTALE;
	}
	if (r < 0)
		return r;
	fd = -1; /* the caller's now */
	*out = e;
	return 0;
}

void usym_files_keep(struct usym_files *f, const struct code_function *fn)
{
	f->function[f->next_function++ % FUNCTIONS] = *fn;
}

const struct code_function *usym_files_function(const struct usym_files *f, uint32_t serial,
						uint64_t offset)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		const struct code_function *fn = &f->function[i];

		if (fn->serial == serial && serial && fn->start <= offset && offset < fn->end)
			return fn;
	}
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/usym_files.h"

#include <limits.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

enum { FILES = 192, FUNCTIONS = 512, FAILED = 128 };
#define FAILED_NS (60 * 1000000000ull)

struct failed { /* a file that could not be opened or read */
	uint64_t ino, until_ns;
	uint32_t dev, pid;
};

struct usym_files {
	char procfs[PATH_MAX - 64];
	uint32_t users, serial;
	uint64_t uses;
	uint32_t next_function;
	struct code_file file[FILES];
	struct code_function function[FUNCTIONS];
	struct failed failed[FAILED]; /* the oldest is overwritten */
	uint32_t next_failed;
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

/* Not there, or another file; a refusal holds for any way to the file. */
static bool is_elsewhere(int fd)
{
	return fd < 0 && fd != -EREMOTE && fd != -EPERM;
}

/* Tries the root of the process, that of its parent, and ours, which contains a chroot. */
static int open_somewhere(struct usym_files *f, uint32_t pid, uint32_t keeper,
			  const struct mapping *m, struct foreign_id *id)
{
	int fd = proc_code_open(f->procfs, pid, m, false, id);

	if (is_elsewhere(fd) && keeper)
		fd = proc_code_open(f->procfs, keeper, m, true, id);
	if (is_elsewhere(fd))
		fd = proc_code_open(f->procfs, (uint32_t)getpid(), m, true, id);
	return fd;
}

static bool has_failed(const struct usym_files *f, uint32_t pid, const struct mapping *m)
{
	uint64_t now = f->next_failed ? clock_mono_ns() : 0;

	for (uint32_t i = 0; i < FAILED && i < f->next_failed; i++) {
		const struct failed *x = &f->failed[i];

		if (x->pid == pid && x->ino == m->ino && x->dev == m->dev && now < x->until_ns)
			return true;
	}
	return false;
}

const struct code_file *usym_files_of(struct usym_files *f, uint32_t pid, const struct mapping *m,
				      uint32_t *opens)
{
	struct code_file *c = find_file(f, m);
	AUTO_CLOSE int fd = -1;
	struct foreign_id id;
	struct elf_file e;

	if (c) {
		c->used = ++f->uses;
		return c;
	}
	if (!*opens || has_failed(f, pid, m))
		return NULL;
	--*opens;
	fd = open_somewhere(f, pid, 0, m, &id);
	if (fd < 0 || elf_file_open(&e, fd) < 0) {
		f->failed[f->next_failed++ % FAILED] =
			(struct failed){ m->ino, clock_mono_ns() + FAILED_NS, m->dev, pid };
		return NULL;
	}
	if (e.too_large && !e.table.symbol_end)
		foreign_refuse(FOREIGN_CODE, -EFBIG, f->procfs, pid, NULL);
	c = unused_longest(f);
	*c = (struct code_file){ .serial = ++f->serial ? f->serial : ++f->serial,
				 .keeper = proc_code_parent(f->procfs, pid),
				 .used = ++f->uses,
				 .size = id.size,
				 .written = id.written,
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

/* By its content: overlay file systems show one file under several numbers. */
static bool is_same(const struct code_file *c, const struct foreign_id *id,
		    const struct elf_file *e)
{
	return memcmp(e->build_id, c->build_id, sizeof(e->build_id)) == 0 && c->size == id->size &&
	       c->written.tv_sec == id->written.tv_sec && c->written.tv_nsec == id->written.tv_nsec;
}

int usym_files_open(struct usym_files *f, uint32_t pid, const struct code_file *c,
		    struct elf_file *out, struct foreign_id *id)
{
	AUTO_CLOSE int fd = open_somewhere(f, pid, c->keeper, &c->map, id);
	struct elf_file e;
	int r;

	if (fd < 0)
		return fd;
	r = elf_file_open(&e, fd);
	if (r == 0 && !is_same(c, id, &e)) {
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

// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/ksym.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "lib/base/log.h"
#include "probe/symbol/kernel/ksym_kernel.h"

enum {
	PIECE = 16 * 1024,
	NAME = KSYM_NAME,
	TOGETHER = 128, /* addresses per call of the kernel program */
	FAR = 1 << 20, /* no function is longer: an address beyond it is in no listed function */
};

struct found {
	uint64_t addr, at; /* to look up; the nearest symbol at or below it, 0: none yet */
	uint64_t next; /* the nearest symbol above it */
	char name[NAME];
};

struct ksyms {
	int fd;
	struct ksym_kernel *kernel; /* NULL: the file is read */
	bool hidden;
	size_t nfound, len; /* len: bytes of an incomplete line */
	struct found *found; /* sorted by addr */
	char piece[PIECE + 1];
};

struct ksyms *ksyms_new(const char *procfs)
{
	struct ksyms *k = calloc(1, sizeof(*k));
	char path[PATH_MAX];

	if (!k)
		die("out of memory");
	snprintf(path, sizeof(path), "%s/kallsyms", procfs);
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	k->hidden = true;
	if (strcmp(procfs, "/proc") == 0)
		k->kernel = ksym_kernel_take();
	return k;
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	ksym_kernel_put(k->kernel);
	free(k->found);
	free(k);
}

bool ksyms_quick(const struct ksyms *k)
{
	return k->kernel;
}

static int by_addr(const void *a, const void *b)
{
	uint64_t x = ((const struct found *)a)->addr, y = ((const struct found *)b)->addr;

	return (x > y) - (x < y);
}

void ksyms_begin(struct ksyms *k, const uint64_t *addr, size_t n)
{
	free(k->found);
	k->found = calloc(n ? n : 1, sizeof(*k->found));
	if (!k->found)
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		k->found[i] = (struct found){ .addr = addr[i], .next = UINT64_MAX };
	qsort(k->found, n, sizeof(*k->found), by_addr);
	k->nfound = n;
	k->len = 0;
	k->hidden = true;
	if (k->fd >= 0 && lseek(k->fd, 0, SEEK_SET) < 0)
		k->nfound = 0;
}

/* The first lookup at or above this address. */
static struct found *next_above(const struct ksyms *k, uint64_t at)
{
	size_t lo = 0, hi = k->nfound;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (k->found[mid].addr < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->nfound ? &k->found[lo] : NULL;
}

/*
 * This symbol bounds the nearest lookup below it. Lookups further down have a nearer bound, or get
 * this one from spread_names.
 */
static void ends_below(struct ksyms *k, const struct found *above, uint64_t at)
{
	size_t n = above ? (size_t)(above - k->found) : k->nfound;

	if (n && at < k->found[n - 1].next)
		k->found[n - 1].next = at;
}

/*
 * "ffffffff81000000 T _text\t[module]": code only. Lookups further up have a nearer symbol, or get
 * this one from spread_names.
 */
static void on_line(struct ksyms *k, char *line)
{
	char *end, *module;
	uint64_t at = strtoull(line, &end, 16);
	struct found *f;

	if (!at || end[0] != ' ' || !strchr("tTwW", end[1]) || end[2] != ' ')
		return;
	k->hidden = false;
	f = next_above(k, at);
	ends_below(k, f, at);
	if (!f || f->at >= at)
		return;
	f->at = at;
	module = strchr(end + 3, '\t');
	if (module)
		*module++ = 0;
	snprintf(f->name, sizeof(f->name), "%s%s%s", end + 3, module ? " " : "",
		 module ? module : "");
}

static void on_piece(struct ksyms *k, size_t len)
{
	char *line = k->piece, *end;

	k->piece[len] = 0;
	while ((end = memchr(line, '\n', len - (size_t)(line - k->piece)))) {
		*end = 0;
		on_line(k, line);
		line = end + 1;
	}
	k->len = len - (size_t)(line - k->piece);
	memmove(k->piece, line, k->len);
	if (k->len == PIECE)
		k->len = 0; /* longer than any valid line */
}

/* Of several addresses in one function only the first has got the name: copies it to the others. */
static void spread_names(struct ksyms *k)
{
	for (size_t i = k->nfound; i-- > 1;)
		if (k->found[i].next < k->found[i - 1].next)
			k->found[i - 1].next = k->found[i].next;
	for (size_t i = 1; i < k->nfound; i++) {
		const struct found *below = &k->found[i - 1];

		if (below->at <= k->found[i].at)
			continue;
		k->found[i].at = below->at;
		memcpy(k->found[i].name, below->name, NAME);
	}
}

static int ask_kernel(struct ksyms *k)
{
	for (size_t done = 0, n; done < k->nfound; done += n) {
		uint64_t addr[TOGETHER];
		struct ksym_place place[TOGETHER];
		int r;

		n = k->nfound - done < TOGETHER ? k->nfound - done : TOGETHER;
		for (size_t i = 0; i < n; i++)
			addr[i] = k->found[done + i].addr;
		r = ksym_kernel_find(k->kernel, addr, n, place);
		if (r < 0)
			return r;
		for (size_t i = 0; i < n; i++) {
			struct found *f = &k->found[done + i];

			f->at = place[i].from;
			f->next = place[i].to;
			memcpy(f->name, place[i].name, NAME);
		}
	}
	k->hidden = false;
	return 0;
}

int ksyms_step(struct ksyms *k, size_t bytes)
{
	ssize_t n = 0;

	if (k->kernel && ask_kernel(k) == 0)
		return 1;
	ksym_kernel_put(k->kernel); /* the kernel refuses to run it: read the file from now on */
	k->kernel = NULL;
	for (size_t done = 0; k->fd >= 0 && k->nfound && done < bytes; done += (size_t)n) {
		n = read(k->fd, k->piece + k->len, PIECE - k->len);
		if (n <= 0)
			break;
		on_piece(k, k->len + (size_t)n);
	}
	if (n > 0)
		return 0;
	spread_names(k);
	return 1;
}

bool ksyms_hidden(const struct ksyms *k)
{
	return k->hidden;
}

static const struct found *of_addr(const struct ksyms *k, uint64_t addr)
{
	const struct found *f = next_above(k, addr);

	return f && f->addr == addr && f->at && addr - f->at <= FAR ? f : NULL;
}

bool ksyms_function(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT],
		    uint64_t *start, uint64_t *end)
{
	const struct found *f = of_addr(k, addr);

	if (!f)
		return false;
	snprintf(text, KSYM_TEXT, "%s", f->name);
	*start = f->at;
	*end = f->next;
	return true;
}

const char *ksyms_name(const struct ksyms *k, uint64_t addr, char text[static KSYM_TEXT])
{
	const struct found *f = of_addr(k, addr);
	const char *module = NULL;

	if (!f) {
		snprintf(text, KSYM_TEXT, "0x%llx", (unsigned long long)addr);
		return text;
	}
	module = strchr(f->name, ' ');
	snprintf(text, KSYM_TEXT, "%.*s+0x%llx%s", module ? (int)(module - f->name) : NAME, f->name,
		 (unsigned long long)(addr - f->at), module ? module : "");
	return text;
}

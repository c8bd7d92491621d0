// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/proc_text.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "probe/foreign/foreign.h"

enum { CHUNK = 8192, MAX_FILE = 1 << 20 };

/*
 * /proc generates its text while it is read, so only a read of 0 bytes is the end. A file that
 * comes in one piece has ended when a read leaves room in the buffer.
 */
static int read_all(int fd, bool one_piece, struct buf *text)
{
	char chunk[CHUNK];
	ssize_t n;

	buf_reset(text);
	while (text->len < MAX_FILE) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		buf_put(text, chunk, (size_t)n);
		if (one_piece && n < CHUNK)
			return 0;
	}
	return 0;
}

static int read_at(struct buf *text, int dir, const char *name, bool one_piece, struct words *file)
{
	AUTO_CLOSE int fd = foreign_open_text_at(dir, name);
	const char *end;
	int r;

	if (fd < 0)
		return fd;
	r = read_all(fd, one_piece, text);
	if (r < 0)
		return r;
	end = text->len ? memrchr(text->data, '\n', text->len) : NULL;
	file->p = (const char *)text->data;
	file->end = end ? end + 1 : file->p;
	return 0;
}

int proc_read_at(struct buf *text, int dir, const char *name, struct words *file)
{
	return read_at(text, dir, name, true, file);
}

int proc_read(struct buf *text, const char *root, const char *name, struct words *file)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", root, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return read_at(text, AT_FDCWD, path, false, file);
}

bool proc_line(struct words *file, struct words *line)
{
	const char *end;

	if (file->p >= file->end)
		return false;
	end = memchr(file->p, '\n', (size_t)(file->end - file->p));
	line->p = file->p;
	line->end = end ? end : file->end;
	file->p = end ? end + 1 : file->end;
	return true;
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == ':' || c == '=';
}

bool proc_word(struct words *line, struct words *word)
{
	while (line->p < line->end && is_gap(*line->p))
		line->p++;
	word->p = line->p;
	while (line->p < line->end && !is_gap(*line->p))
		line->p++;
	word->end = line->p;
	return word->p < word->end;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

double proc_number(struct words *line)
{
	struct words w;
	uint64_t whole = 0;
	double part = 0, unit = 0.1;

	if (!proc_word(line, &w) || !is_digit(*w.p))
		return NAN;
	for (; w.p < w.end && is_digit(*w.p); w.p++) {
		unsigned digit = (unsigned)(*w.p - '0');

		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, digit, &whole))
			return NAN;
	}
	if (w.p < w.end && *w.p == '.')
		for (w.p++; w.p < w.end && is_digit(*w.p); w.p++, unit /= 10)
			part += unit * (*w.p - '0');
	return w.p == w.end ? (double)whole + part : NAN;
}

bool proc_is(const struct words *word, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(word->end - word->p) == len && memcmp(word->p, text, len) == 0;
}

int proc_find(const struct proc_key *keys, size_t n, const struct words *word)
{
	for (size_t i = 0; i < n; i++)
		if (proc_is(word, keys[i].key))
			return keys[i].index;
	return -1;
}

void proc_keyed(struct words file, const struct proc_key *keys, size_t n, double unit, double *raw)
{
	struct words line, word;
	int at;

	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &word))
			continue;
		at = proc_find(keys, n, &word);
		if (at >= 0)
			raw[at] = proc_number(&line) * unit;
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
void proc_pressure(struct words file, int some, int full, double *raw)
{
	struct words line, word;
	int at;

	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &word))
			continue;
		at = proc_is(&word, "some") ? some : proc_is(&word, "full") ? full : -1;
		while (at >= 0 && proc_word(&line, &word))
			if (proc_is(&word, "total"))
				raw[at] = proc_number(&line) * 1e-6;
	}
}

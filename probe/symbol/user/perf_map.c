// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/perf_map.h"

#include "lib/base/text.h"
#include "probe/foreign/foreign.h"

void perf_map_open(struct perf_map *m, int fd)
{
	m->fd = fd;
	m->taken = 0;
	m->len = 0;
	m->skipping = false;
}

/* Parses a number and the blank after it; NULL: neither. */
static const char *parse_number(const char *p, const char *end, uint64_t *out)
{
	uint64_t v = 0;
	const char *from = p;

	for (; p < end && p - from < 16; p++) {
		char c = *p | 0x20;

		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*out = v;
	return p > from && p < end && *p == ' ' ? p + 1 : NULL;
}

static void on_line(const char *p, const char *end, struct symbol_lookup *a, size_t n)
{
	uint64_t start, size;

	p = parse_number(p, end, &start);
	p = p ? parse_number(p, end, &size) : NULL;
	for (size_t i = 0; p && p < end && i < n; i++) {
		if (a[i].addr < start || a[i].addr - start >= size)
			continue;
		a[i].start = start;
		a[i].end = start + size;
		a[i].found =
			text_clean_into(a[i].name, sizeof(a[i].name), p, (size_t)(end - p)) > 0;
	}
}

/* Processes the complete lines of the buffer; an incomplete line stays. */
static void on_piece(struct perf_map *m, struct symbol_lookup *a, size_t n)
{
	const char *p = m->piece, *end = m->piece + m->len, *newline;

	for (; (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
		if (!m->skipping)
			on_line(p, newline, a, n);
		m->skipping = false;
	}
	m->len = (size_t)(end - p);
	memmove(m->piece, p, m->len);
	if (m->len < sizeof(m->piece))
		return;
	m->skipping = true;
	m->len = 0;
}

int perf_map_step(struct perf_map *m, struct symbol_lookup *a, size_t n, size_t bytes)
{
	uint64_t max = foreign_limits[FOREIGN_PERF_MAP].bytes;

	for (uint64_t until = m->taken + bytes; m->taken < until;) {
		ssize_t got = m->taken < max ? foreign_read(m->fd, m->piece + m->len,
							    sizeof(m->piece) - m->len, m->taken)
					     : -EFBIG;

		if (got <= 0)
			return got < 0 ? (int)got : 1;
		m->taken += (uint64_t)got;
		m->len += (size_t)got;
		on_piece(m, a, n);
	}
	return 0;
}

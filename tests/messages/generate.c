// SPDX-License-Identifier: Apache-2.0
#include "tests/messages/generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/base.h"

enum body { BODY_NONE, BODY_LENGTH, BODY_CHUNKED };

uint32_t generate_below(struct generated *g, uint32_t n)
{
	g->state ^= g->state << 13;
	g->state ^= g->state >> 7;
	g->state ^= g->state << 17;
	return (uint32_t)(g->state * 0x2545f4914f6cdd1dull >> 32) % n;
}

static bool one_in(struct generated *g, uint32_t n)
{
	return generate_below(g, n) == 0;
}

static void put(struct generated *g, const char *s, size_t len)
{
	memcpy(g->b + g->n, s, len);
	g->n += len;
}

__attribute__((format(printf, 2, 3))) static void print(struct generated *g, const char *format,
							...)
{
	va_list ap;

	va_start(ap, format);
	g->n += (size_t)vsnprintf(g->b + g->n, sizeof(g->b) - g->n, format, ap);
	va_end(ap);
}

#define PRINT_ONE(g, list) print(g, "%s", (list)[generate_below(g, ARRAY_SIZE(list))])

/* Looks like messages, and is none. */
static void body_bytes(struct generated *g, size_t len)
{
	static const char text[] = "GET /x HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n0\r\n\r\n";

	for (size_t i = 0; i < len; i++)
		g->b[g->n++] = text[i % (sizeof(text) - 1)];
}

static void chunks(struct generated *g)
{
	for (uint32_t k = generate_below(g, 4); k; k--) {
		uint32_t len = 1 + generate_below(g, one_in(g, 3) ? 900 : 30);

		print(g, one_in(g, 2) ? "%x\r\n" : "%X;a=b\r\n", len);
		body_bytes(g, len);
		put(g, "\r\n", 2);
	}
	print(g, "0\r\n");
	if (one_in(g, 3))
		print(g, "Trail: 1\r\nContent-Length: 7\r\n");
	put(g, "\r\n", 2);
}

static void letters(struct generated *g, uint32_t n)
{
	while (n--)
		g->b[g->n++] = (char)('a' + generate_below(g, 26));
}

static void fields(struct generated *g, enum body body, size_t len)
{
	static const char *const others[] = { "Host: a\r\n",
					      "X-Original-Content-Length: 0\r\n",
					      "Transfer-Encodings: chunked\r\n",
					      "Content-Lengths: 1\r\n",
					      "Content-Type: text/html\r\n",
					      "Connection: keep-alive\r\n",
					      "T: c\r\n",
					      "Cookie: " };
	static const char *const lengths[] = { "Content-Length: ", "content-length:",
					       "CONTENT-LENGTH:   " };
	static const char *const codings[] = { "Transfer-Encoding: chunked\r\n",
					       "transfer-encoding:gzip, Chunked\r\n" };

	for (uint32_t k = generate_below(g, 5); k; k--) {
		PRINT_ONE(g, others);
		if (g->b[g->n - 1] == '\n')
			continue;
		letters(g, generate_below(g, 700));
		put(g, "\r\n", 2);
	}
	if (body == BODY_LENGTH) {
		PRINT_ONE(g, lengths);
		print(g, "%zu%s\r\n", len, one_in(g, 3) ? " " : "");
	} else if (body == BODY_CHUNKED) {
		PRINT_ONE(g, codings);
	}
	if (one_in(g, 2))
		print(g, "Zz: 1\r\n");
	put(g, "\r\n", 2);
}

static void request_line(struct generated *g, struct generated_message *m)
{
	static const char *const methods[] = { "GET",	 "POST",  "PROPFIND", "HEADER", "P",
					       "PROXYX", "PURGE", "M-SEARCH", "LOCK" };

	if (one_in(g, 4))
		print(g, one_in(g, 2) ? "\r\n" : "\r\n\r\n");
	m->begin = g->n;
	PRINT_ONE(g, methods);
	m->named_p = g->b[m->begin] == 'P';
	print(g, " /");
	letters(g, generate_below(g, one_in(g, 5) ? 900 : 30));
	print(g, " HTTP/1.%u\r\n", generate_below(g, 2));
}

static void status_line(struct generated *g, struct generated_message *m, enum body *body)
{
	while (one_in(g, 4))
		print(g, one_in(g, 2) ? "HTTP/1.1 100 Continue\r\n\r\n"
				      : "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
	m->status = 200 + (int)generate_below(g, 800);
	if (m->status == 204 || m->status == 304)
		*body = BODY_NONE;
	else if (*body == BODY_NONE)
		m->status = one_in(g, 2) ? 204 : 304;
	m->begin = g->n;
	print(g, "HTTP/1.1 %d %s\r\n", m->status, one_in(g, 2) ? "OK" : "");
}

static void message(struct generated *g)
{
	struct generated_message *m = &g->m[g->nm++];
	size_t len = generate_below(g, one_in(g, 3) ? 2000 : 20);
	enum body body = generate_below(g, 3);

	if (g->answers)
		status_line(g, m, &body);
	else
		request_line(g, m);
	fields(g, body, len);
	if (body == BODY_LENGTH)
		body_bytes(g, len);
	else if (body == BODY_CHUNKED)
		chunks(g);
	m->end = g->n;
}

/* What may come before the first request. */
static void proxy_head(struct generated *g)
{
	static const char second[] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
				     "abcdGET ABCD";

	switch (generate_below(g, 6)) {
	case 0:
		print(g, "PROXY TCP4 1.2.3.4 1.2.3.4 40000 80\r\n");
		break;
	case 1:
		put(g, second, sizeof(second) - 1);
		break;
	}
}

void generate(struct generated *g, uint64_t seed)
{
	*g = (struct generated){ .answers = seed & 1, .state = (seed + 1) * 0x9e3779b97f4a7c15ull };
	if (!g->answers)
		proxy_head(g);
	for (uint32_t k = 1 + generate_below(g, 4); k; k--)
		message(g);
}

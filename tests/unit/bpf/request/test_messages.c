// SPDX-License-Identifier: Apache-2.0
/*
 * Random conversations, split anywhere, through the message reader of the kernel programs:
 * MESSAGES_COUNT of them from the seed MESSAGES_SEED on. A seed that fails is printed; alone it
 * fails again.
 */
#include <stdlib.h>
#include <sys/uio.h>

#include "lib/base/base.h"
#include "tests/lib/test.h"
#include "tests/messages/follow.h"
#include "tests/messages/generate.h"

enum { COUNT = 5000, PIECES = 4, SHOWN = 5 };

enum split { BY_BYTE, BY_FEW, BY_MANY, AT_ONCE, SPLITS };

struct progress {
	size_t at; /* bytes followed */
	unsigned began, answered;
};

static struct generated g;

static size_t call_len(enum split by, size_t left)
{
	size_t n = left;

	if (by == BY_BYTE)
		n = 1;
	else if (by == BY_FEW)
		n = 1 + generate_below(&g, 40);
	else if (by == BY_MANY)
		n = 1 + generate_below(&g, 3000);
	return n < left ? n : left;
}

/* Cuts a call's bytes into the pieces of a readv() or a writev(). */
static size_t cut(struct iovec v[static PIECES], char *p, size_t len)
{
	size_t n = 0;

	while (n < PIECES - 1 && len > 1 && generate_below(&g, 2)) {
		v[n].iov_len = generate_below(&g, (uint32_t)len);
		v[n].iov_base = p;
		p += v[n].iov_len;
		len -= v[n].iov_len;
		n++;
	}
	v[n].iov_base = p;
	v[n].iov_len = len;
	return n + 1;
}

/* NULL, or what is wrong with the requests that began within the call. */
static const char *begins_differ(struct progress *p, const struct follow_call *f, size_t len)
{
	for (unsigned i = 0; i < f->nbegins; i++) {
		const struct generated_message *m = &g.m[p->began];
		size_t at = p->at + (size_t)f->begins[i], most = p->at + len - at;

		if (p->began == g.nm || at != m->begin)
			return "a request begins elsewhere";
		p->began++;
		if (i)
			continue;
		if (f->line_len != (most < FOLLOW_LINE ? most : FOLLOW_LINE))
			return "the first bytes of a request are not as many";
		if (memcmp(f->line, g.b + at, f->line_len) != 0)
			return "the first bytes of a request are not its own";
	}
	return NULL;
}

/* How many answers have come as far as the end of their status before `at`. */
static unsigned answered_before(size_t at)
{
	unsigned n = 0;

	while (n < g.nm && g.m[n].begin + strlen("HTTP/1.1 200") <= at)
		n++;
	return n;
}

static const char *answers_differ(struct progress *p, const struct follow_call *f, size_t end)
{
	unsigned was = p->answered, now = answered_before(end), n = now - was;

	p->answered = now;
	if (f->finals != (n < 2 ? n : 2))
		return "an answer was seen where none is, or was missed";
	if (n && f->status != g.m[was].status)
		return "a status differs";
	return NULL;
}

static const char *end_differs(const struct follow_call *f, size_t end)
{
	if (f->bad || f->lost)
		return "the reader is lost";
	for (unsigned i = 0; i < g.nm; i++) {
		const struct generated_message *m = &g.m[i];

		if (m->end == end && f->open)
			return "a whole message is open";
		if (m->begin < end && end < m->end && !f->open &&
		    !(m->named_p && end - m->begin < 6))
			return "an unfinished message is not open";
	}
	return NULL;
}

static const char *conversation_differs(uint64_t seed)
{
	struct progress p = { 0 };
	struct iovec v[PIECES];
	struct follow_call f;
	const char *wrong = NULL;
	enum split by;

	generate(&g, seed);
	by = generate_below(&g, SPLITS);
	follow_new(g.answers);
	while (p.at < g.n && !wrong) {
		size_t len = call_len(by, g.n - p.at), n = cut(v, g.b + p.at, len);

		follow_call(v, n, (unsigned)len, &f);
		wrong = begins_differ(&p, &f, len);
		if (!wrong && g.answers)
			wrong = answers_differ(&p, &f, p.at + len);
		p.at += len;
		if (!wrong)
			wrong = end_differs(&f, p.at);
	}
	if (!wrong && (g.answers ? p.answered : p.began) != g.nm)
		wrong = "not every message was seen";
	return wrong;
}

static unsigned long setting(const char *name, unsigned long usual)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 10) : usual;
}

TEST(requests_and_answers_begin_and_end_where_they_were_written)
{
	unsigned long count = setting("MESSAGES_COUNT", COUNT), seed = setting("MESSAGES_SEED", 1);
	unsigned long differ = 0;

	for (unsigned long i = 0; i < count; i++) {
		const char *wrong = conversation_differs(seed + i);

		if (wrong && differ++ < SHOWN)
			printf("    seed %lu: %s\n", seed + i, wrong);
	}
	printf("    %lu conversations from seed %lu on, %lu differ\n", count, seed, differ);
	CHECK_EQ(differ, 0);
}

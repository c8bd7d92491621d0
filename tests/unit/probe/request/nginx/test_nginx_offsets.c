// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_offsets.h"
#include "tests/lib/test.h"

enum { POOL = 11, LISTS_IN = 20, HOST = 21, STATUS = 81, START = 120 };

#define AT 0x5612da4a0710ull
#define NOW 1795310514ull

/* The layout of nginx 1.22, with the relevant fields of a request set. */
static struct nginx_look look(void)
{
	struct nginx_look l = { .at = AT };

	memcpy(l.request, "HTTP", 4);
	l.request[1] = AT - 0x4000;
	for (size_t i = 2; i < POOL; i++)
		l.request[i] = 0x5612d9000000ull + i * 64;
	l.request[POOL] = l.request[LISTS_IN] = AT - 80;
	l.request[HOST] = AT + 1296;
	l.request[STATUS - 8] = l.request[STATUS - 1] = AT - 80;
	l.request[STATUS - 7] = AT + 200;
	l.request[STATUS] = 200;
	l.request[START] = NOW - 2;
	l.request[START + 1] = 287;
	l.request[START + 2] = 2;
	l.request[START + 3] = 1001;
	l.request[START + 4] = 14;
	l.request[START + 5] = AT + 4096;
	l.connection.data = AT;
	return l;
}

static struct nginx_offsets offsets;

static int find(const struct nginx_look *l)
{
	return nginx_offsets_find(l, NOW, &offsets);
}

TEST(the_offsets_are_found)
{
	struct nginx_look l = look();

	CHECK_EQ(find(&l), 0);
	CHECK_EQ(offsets.states, (POOL - 1) * 8);
	CHECK_EQ(offsets.status, STATUS * 8);
	CHECK_EQ(offsets.start, START * 8);
}

TEST(a_build_without_a_cache_has_them_one_word_earlier)
{
	struct nginx_look l = look();

	memmove(&l.request[8], &l.request[9], sizeof(l.request) - 9 * 8);
	CHECK_EQ(find(&l), 0);
	CHECK_EQ(offsets.states, (POOL - 2) * 8);
	CHECK_EQ(offsets.start, (START - 1) * 8);
}

TEST(another_struct_is_rejected)
{
	struct nginx_look l = look();

	memcpy(l.request, "PTTH", 4);
	CHECK_EQ(find(&l), -ENOENT);
	l = look();
	l.connection.data = AT + 8;
	CHECK_EQ(find(&l), -ENOENT);
	memset(&l, 0, sizeof(l));
	CHECK_EQ(find(&l), -ENOENT);
	memset(&l, 0xff, sizeof(l));
	CHECK_EQ(find(&l), -ENOENT);
}

TEST(a_request_without_an_answer_does_not_reveal_the_status_offset)
{
	struct nginx_look l = look();

	l.request[STATUS] = 0;
	CHECK_EQ(find(&l), -ENOENT);
}

TEST(ambiguous_offsets_are_rejected)
{
	struct nginx_look l = look();

	l.request[STATUS + 9] = AT - 80;
	l.request[STATUS + 10] = 404;
	CHECK_EQ(find(&l), -ENOENT);
	l = look();
	memcpy(&l.request[START + 6], &l.request[START], 6 * 8);
	CHECK_EQ(find(&l), -ENOENT);
}

TEST(each_word_of_the_start_is_checked)
{
	static const struct {
		size_t word;
		uint64_t value;
	} wrong[] = { { 0, NOW + 5 }, { 0, NOW - 100000 }, { 1, 1000 }, { 2, 6 },
		      { 2, 1 },	      { 3, 1002 },	   { 4, 0 },	{ 5, 14 } };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct nginx_look l = look();

		l.request[START + wrong[i].word] = wrong[i].value;
		CHECK_EQ(find(&l), -ENOENT);
	}
}

TEST(noise_is_rejected)
{
	struct nginx_look l = look();
	uint64_t x = 88172645463325252ull;

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 1; i < ARRAY_SIZE(l.request); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			l.request[i] = round & 1 ? x : x % 1000;
		}
		CHECK_EQ(find(&l), -ENOENT);
	}
}

// SPDX-License-Identifier: Apache-2.0
/*
 * test.h - the whole test framework.
 *
 *	TEST(a_short_frame_is_refused) { ... CHECK(r == -EBADMSG); }
 *
 * Names are sentences. A failed CHECK prints both sides and fails the test; the last line is
 * "N passed, N failed", and the exit status 0 only if tests ran and none failed.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name;
	void (*fn)(void);
	struct test *next;
};

extern struct test *test_list;
extern bool test_failed;

#define TEST(id)                                                                                   \
	static void id(void);                                                                      \
	__attribute__((constructor)) static void id##_add(void)                                    \
	{                                                                                          \
		static struct test t = { .name = #id, .fn = id };                                  \
		struct test **p = &test_list;                                                      \
		while (*p)                                                                         \
			p = &(*p)->next;                                                           \
		*p = &t;                                                                           \
	}                                                                                          \
	static void id(void)

int test_open_fds(void); /* descriptors that this process has, and one */

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("    %s:%d: not so: %s\n", __FILE__, __LINE__, #cond);              \
			test_failed = true;                                                        \
		}                                                                                  \
	} while (0)

#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (a_ != b_) {                                                                    \
			printf("    %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a, a_,    \
			       b_);                                                                \
			test_failed = true;                                                        \
		}                                                                                  \
	} while (0)

#define CHECK_STR(a, b)                                                                            \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (!a_ || strcmp(a_, b_) != 0) {                                                  \
			printf("    %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #a,    \
			       a_ ? a_ : "(null)", b_);                                            \
			test_failed = true;                                                        \
		}                                                                                  \
	} while (0)

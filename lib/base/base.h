// SPDX-License-Identifier: Apache-2.0
/* base.h - the macros every file may use. Keep it small. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))

/* AUTO(free) char *s = ...;  runs free_autop(&s) when s leaves scope */
#define AUTO(fn) __attribute__((cleanup(fn##_autop)))
#define DEFINE_AUTO(type, fn)                                                                      \
	static inline void fn##_autop(type *p)                                                     \
	{                                                                                          \
		if (*p)                                                                            \
			fn(*p);                                                                    \
	}

#define AUTO_FREE __attribute__((cleanup(free_autop)))
#define AUTO_CLOSE __attribute__((cleanup(close_autop)))

static inline void free_autop(void *p)
{
	free(*(void **)p);
}

static inline void close_autop(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Moves ownership out of an AUTO variable: return TAKE(b); */
#define TAKE(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) take_ = (p);                                                         \
		(p) = NULL;                                                                        \
		take_;                                                                             \
	})

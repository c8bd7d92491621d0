// SPDX-License-Identifier: Apache-2.0
/*
 * follow.h - the message reader of the kernel programs, natively: the bytes of one direction of a
 * connection, as system calls move them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FOLLOW_BEGINS = 64, FOLLOW_LINE = 192 };

struct follow_call { /* what one call showed */
	unsigned nbegins; /* requests that began */
	long begins[FOLLOW_BEGINS]; /* where, from the call's first byte; negative: before it */
	char line[FOLLOW_LINE]; /* of the first of them, its first line_len bytes */
	unsigned line_len;
	unsigned finals; /* final answers: 0, 1, or 2 for more */
	int status; /* of the first of those */
	bool bad; /* a line that begins no message */
	bool open; /* a message has begun and not ended */
	bool lost;
};

void follow_new(bool answers);
/* iov: an array of struct iovec with n entries, of which the call moved len bytes. */
void follow_call(void *iov, size_t n, unsigned len, struct follow_call *out);

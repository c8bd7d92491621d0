// SPDX-License-Identifier: Apache-2.0
/*
 * request_kernel.h - the kernel half of the request source: loads and attaches one of the objects
 * bpf/request/request_*.bpf.c, reads its ring, runs its sweep, sums its counters.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/base/base.h"
#include "probe/request/record/request_event.h"
#include "probe/cgroup/scope.h"
#include "probe/kernel/switch_chain.h"

struct request_kernel;

enum request_hooks {
	HOOKS_SOCKETS, /* socket tracepoints, kernel 6.3 */
	HOOKS_SYSCALLS, /* exits of system calls, kernel 5.15 */
	HOOKS_END
};

struct request_options {
	const char *hooks; /* "auto": the first that this kernel supports; or a name */
	size_t ring_bytes;
	uint32_t conns; /* connections tracked at a time */
	bool split; /* break down the time of requests, if the kernel supports it */
	struct scope scope;
	const char *procfs;
	struct switch_chain *chain; /* NULL: none */
};

/* why: WHY_LEN bytes; on failure says what is missing and what to do. Starts tracing at once. */
int request_kernel_open(struct request_kernel **out, const struct request_options *o,
			int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why);
void request_kernel_close(struct request_kernel *k); /* NULL is fine */
int request_kernel_ring(const struct request_kernel *k); /* nginx programs also write to it */
/* rests: the reader sleeps until a record comes. */
void request_kernel_rest(struct request_kernel *k, bool rests);

bool request_kernel_splits(const struct request_kernel *k); /* breaks down the time of requests */

/* Passes every record to on_record; returns their number. Sets *jiffy_ns once it was measured. */
int request_kernel_read(struct request_kernel *k, uint64_t now_ns, uint64_t *jiffy_ns);
void request_kernel_stats(struct request_kernel *k, uint64_t out[static STAT_END]);

/* The path of an AF_UNIX address, "unix:/run/app.sock"; "unix:" if it is no longer known. */
const char *request_kernel_unix(struct request_kernel *k, const struct req_addr *a,
				char text[static UNIX_TEXT]);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_sweep.h - the sweep of a request object: visits all tracked connections and finds answers
 * whose end no hook reports. It walks the connection map (map_walk.h). Where the kernel refuses
 * that, the socket hooks use an iterator over files, and the system call hooks a program that walks
 * its hash itself.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_object;

struct request_sweep {
	struct bpf_link *walk; /* NULL: program_fd is run */
	int program_fd;
	uint64_t next_ns; /* CLOCK_MONOTONIC: earliest next run */
};

void request_sweep_choose(const struct bpf_object *obj); /* before the load */
int request_sweep_open(struct request_sweep *s, const struct bpf_object *obj) MUST_CHECK;
void request_sweep_close(struct request_sweep *s);
/* Runs once. After a long run the next is delayed, so that sweeps take at most 1 % of a CPU. */
int request_sweep_run(struct request_sweep *s, uint64_t now_ns) MUST_CHECK;

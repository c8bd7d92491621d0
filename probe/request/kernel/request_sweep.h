/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_sweep.h - the sweep of a request object: it is led over all connections that are
 * followed, and finds answers whose end nothing else tells. It is a walk over their map
 * (map_walk.h); where that is refused, of hooks on sockets one over files, of those on system calls
 * a program that walks its hash by itself.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_object;

struct request_sweep {
	struct bpf_link *walk; /* NULL: the program is run */
	int program_fd;
	uint64_t next_ns; /* CLOCK_MONOTONIC: not before */
};

void request_sweep_choose(const struct bpf_object *obj); /* before the load */
int request_sweep_open(struct request_sweep *s, const struct bpf_object *obj) MUST_CHECK;
void request_sweep_close(struct request_sweep *s);
/* Once; where it takes long, the next is due later: it has at most a hundredth of a processor. */
int request_sweep_run(struct request_sweep *s, uint64_t now_ns) MUST_CHECK;

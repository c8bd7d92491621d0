/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_walk.h - runs a kernel program over all entries of a map. Some hardened kernels refuse
 * programs that iterate over a map (EPERM): there a second program does the same by another
 * iterator. The entries of a socket storage are then found through the open files of all processes,
 * which takes time proportional to their number and misses a socket that is in no process's file
 * table.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_program;

struct map_walk {
	struct bpf_program *by_map, *otherwise; /* by_map: its section names an iterator */
};

/*
 * Whether the kernel allows this iterator ("bpf_sk_storage_map"): 0; -ENOENT: not in this kernel;
 * -EPERM: refused.
 */
int map_walk_allowed(const char *iterator) MUST_CHECK;
void map_walk_choose(const struct map_walk *w); /* before the load: only one of them is loaded */
/* Attaches the loaded program, for kernel_iterate(). The caller destroys the link. NULL: see errno.
 */
struct bpf_link *map_walk_attach(const struct map_walk *w, int map_fd) MUST_CHECK;

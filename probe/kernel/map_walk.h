/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_walk.h - a kernel program that is led over all that a map holds. Some hardened kernels refuse
 * programs that walk a map (EPERM): there another one does the same otherwise. What a storage of
 * sockets holds is then looked for among the files that processes have open, which takes longer the
 * more there are, and does not meet a socket that is in no process's table.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_link;
struct bpf_program;

struct map_walk {
	struct bpf_program *by_map, *otherwise; /* of by_map the section is that of an iterator */
};

/* 0: programs may walk so ("bpf_sk_storage_map"); -ENOENT: not in this kernel; -EPERM: refused. */
int map_walk_may(const char *iterator) MUST_CHECK;
void map_walk_choose(const struct map_walk *w); /* before the load: only one of them is loaded */
/* For kernel_iterate(), if the one that is loaded is an iterator. The caller destroys it. NULL:
 * errno says why. */
struct bpf_link *map_walk_attach(const struct map_walk *w, int map_fd) MUST_CHECK;

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock_walk.h - a kernel program that is led over every socket of a storage map. Some hardened
 * kernels refuse programs that walk a map (EPERM): there it is led over every file that a process
 * has open instead. That takes longer the more there are, and a socket that no process has in its
 * table is not met.
 */
#pragma once

#include "../lib/base.h"

struct bpf_link;
struct bpf_program;

/* The same twice: "iter/bpf_sk_storage_map", and "iter/task_file". */
struct sock_walk {
	struct bpf_program *by_map, *by_file;
};

/* 0: programs may walk so ("bpf_sk_storage_map"); -ENOENT: not in this kernel; -EPERM: refused. */
int sock_walk_may(const char *iterator) MUST_CHECK;
void sock_walk_choose(const struct sock_walk *w); /* before the load: only one of them is loaded */
/* For kernel_iterate(); the caller destroys it. NULL: errno says why. */
struct bpf_link *sock_walk_attach(const struct sock_walk *w, int map_fd) MUST_CHECK;

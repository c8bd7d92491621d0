// SPDX-License-Identifier: Apache-2.0
/* kernel_load.h - what every source with a kernel program asks first, and how it says what is
 * missing.
 */
#pragma once

#include "lib/base/base.h"

/* why: WHY_LEN bytes, a sentence when the answer is an error. */
int kernel_can_load(char *why) MUST_CHECK; /* 0; -EPERM, -ENOENT: no BTF */
/* Arguments of a tracepoint in the running kernel, or -ENOENT. */
int kernel_tracepoint_args(const char *name, char *why) MUST_CHECK;
struct btf;
int kernel_args_in(const struct btf *btf, const char *name) MUST_CHECK; /* NULL: -ENOENT */
/* A program as it lies in ours is not read again: its pages go, and would come back from the file.
 */
void kernel_loaded(const void *object, size_t len);
struct bpf_link;
int kernel_iterate(const struct bpf_link *iterator) MUST_CHECK; /* once, to its end; -errno */
enum { KERNEL_RELEASE = 65 }; /* as uname(2) has it */
/* Before 5.15: it lacks storages of tasks and helpers that most programs call. Says which it is. */
bool kernel_is_old(char release[static KERNEL_RELEASE]);
bool kernel_jumps(void); /* bpf_tail_call() from a program that has functions */
int kernel_say(int err, char *why); /* why a program was not loaded; returns err */

// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_load.h - what sources with kernel programs share: checks of the running kernel, and the
 * sentence for the operator about a requirement that is missing.
 */
#pragma once

#include "lib/base/base.h"

/* why: WHY_LEN bytes; receives a sentence on error. */
int kernel_can_load(char *why) MUST_CHECK; /* 0; -EPERM, -ENOENT: no BTF */
/* The number of arguments of a tracepoint in the running kernel, or -ENOENT. */
int kernel_tracepoint_args(const char *name, char *why) MUST_CHECK;
struct btf;
int kernel_args_in(const struct btf *btf, const char *name) MUST_CHECK; /* NULL: -ENOENT */
/* Releases the pages of an embedded kernel program after its load; a later access reads the file.
 */
void kernel_loaded(const void *object, size_t len);
struct bpf_link;
int kernel_iterate(const struct bpf_link *iterator) MUST_CHECK; /* one full pass; 0 or -errno */
enum { KERNEL_RELEASE = 65 }; /* size of the release in uname(2) */
/* Before 5.15: lacks task storage and helpers that most programs call. Fills in the release. */
bool kernel_is_old(char release[static KERNEL_RELEASE]);
bool kernel_jumps(void); /* bpf_tail_call() works in a program that has functions */
/* Writes why the load of a program failed, if the error is a known one; returns err. */
int kernel_explain(int err, char *why);

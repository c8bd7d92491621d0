// SPDX-License-Identifier: Apache-2.0
/* nginx_kernel.h - the kernel half: loads bpf/request/nginx_uprobe.bpf.c and attaches it to a
 * program. */
#pragma once

#include <linux/types.h>

#include "bpf/request/nginx_uprobe.h"
#include "lib/base/base.h"
#include "probe/request/nginx/nginx_elf.h"
#include "probe/cgroup/scope.h"

struct nginx_kernel;

/* Records go to ring_fd. -errno: the kernel does not support or permit uprobes. */
int nginx_kernel_open(struct nginx_kernel **out, int ring_fd, const struct scope *scope) MUST_CHECK;
void nginx_kernel_close(struct nginx_kernel *k); /* NULL is fine */

/* Attaches to a program as entry i of NGINX_BINARIES; its records carry token. */
int nginx_kernel_attach(struct nginx_kernel *k, uint32_t i, const char *path,
			const struct nginx_elf *elf, uint32_t token) MUST_CHECK;
void nginx_kernel_detach(struct nginx_kernel *k, uint32_t i);

void nginx_kernel_look(struct nginx_kernel *k, uint32_t i,
		       int looks); /* sends copies of the next structs */
int nginx_kernel_looks(struct nginx_kernel *k, uint32_t i); /* copies left to send */
void nginx_kernel_read(struct nginx_kernel *k, uint32_t i, uint16_t states, uint16_t status,
		       uint16_t start); /* reads by these offsets */

uint64_t nginx_kernel_lost(struct nginx_kernel *k); /* of all programs, since open */

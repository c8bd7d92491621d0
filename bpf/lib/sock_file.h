/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sock_file.h - finds the socket of an open file passed by an iterator. */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

/* NULL: not a socket. */
static __always_inline struct sock *sock_of_file(struct file *file)
{
	struct socket *sock = file ? bpf_sock_from_file(file) : NULL;

	return sock ? sock->sk : NULL;
}

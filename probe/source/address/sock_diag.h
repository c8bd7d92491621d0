// SPDX-License-Identifier: Apache-2.0
/*
 * sock_diag.h - the listening sockets of the probe's own network namespace, by netlink. Reading
 * /proc/net/tcp gives the same, but walks a hash table of connections, which takes a millisecond or
 * two however few there are.
 */
#pragma once

#include "probe/source/address/addr_list.h"

/* 0, or -errno: this kernel has no sock_diag. */
int sock_diag_read(struct addr_list *l) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * netns_addr.h - the addresses and listening sockets of one network namespace, from /proc/PID/net
 * of a process in it. Listening sockets come first in these files, so reading stops after them,
 * however many connections follow.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/source/address/addr_list.h"

/* pid: "self" or a number; text: a buffer to reuse. Missing files add nothing. */
void netns_addr_read(struct addr_list *l, struct buf *text, const char *procfs, const char *pid,
		     uint64_t netns);

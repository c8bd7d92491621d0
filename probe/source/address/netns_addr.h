// SPDX-License-Identifier: Apache-2.0
/*
 * netns_addr.h - the addresses and listening sockets of one network namespace, from /proc/PID/net of
 * a process in it. Only what listens is read, which comes first there, however many connections
 * follow.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/source/address/addr_list.h"

/* who: "self" or a process; text is memory to use again. What is not there adds nothing. */
void netns_addr_read(struct addr_list *l, struct buf *text, const char *procfs, const char *who,
		    uint64_t netns);

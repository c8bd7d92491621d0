// SPDX-License-Identifier: Apache-2.0
/*
 * conntrack.h - translated TCP connections, from the kernel's connection tracking table. The
 * probe's own network namespace is read by netlink, which filters for translated ones; other
 * namespaces by /proc/PID/net/nf_conntrack, as netlink would need a socket created inside.
 */
#pragma once

#include "lib/base/buf.h"
#include "probe/source/address/nat.h"

/*
 * Reads the probe's own namespace; *tracked: number of tracked connections, 0 if the kernel does
 * not track any. -EPERM: needs CAP_NET_ADMIN; -EOPNOTSUPP: not supported by this kernel.
 */
int conntrack_own(struct nat *n, struct buf *text, const char *procfs,
		  uint32_t *tracked) MUST_CHECK;

/* pid: a process in the namespace. One with too many connections is skipped and counted. */
void conntrack_of(struct nat *n, struct buf *text, const char *procfs, const char *pid,
		  uint64_t netns);

/* Parse what the functions above read. -EOPNOTSUPP, -EPERM, -EBADMSG; 1: more follows. */
int conntrack_message(struct nat *n, const void *data, size_t len);
void conntrack_line(struct nat *n, const char *line, size_t len, uint64_t netns);

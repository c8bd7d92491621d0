// SPDX-License-Identifier: Apache-2.0
/*
 * netns_pids.h - the processes of the node, or of a cgroup subtree; their network namespaces; and
 * the owners of sockets.
 */
#pragma once

#include "lib/base/base.h"

enum { NETNS_MAX = 256 };

struct netns_pids { /* sorted */
	uint32_t *pid;
	uint32_t n, room;
};

struct netns_entry {
	uint64_t inode;
	uint32_t pid; /* a process in it */
	uint32_t reads; /* since it was discovered */
};

struct netns_list { /* other than the node's */
	struct netns_entry net[NETNS_MAX];
	uint32_t n;
};

struct socket_owner { /* the owner of a socket */
	uint64_t inode;
	uint32_t pid; /* 0: not found */
};

/* below: a cgroup2 directory; "": all processes. */
int netns_pids_read(struct netns_pids *p, const char *procfs, const char *below) MUST_CHECK;
bool netns_pids_has(const struct netns_pids *p, uint32_t pid);
void netns_pids_free(struct netns_pids *p);

uint64_t netns_inode(const char *procfs, const char *pid); /* its inode; 0: unknown */

/*
 * Scans the open files of processes with a pid below *from, highest first, until all of want
 * (sorted by inode) are found or the given number of files was read. Sets *from to where to
 * continue; 0: all processes were scanned.
 */
void find_socket_owners(const char *procfs, const struct netns_pids *p, uint32_t *from,
			struct socket_owner *want, uint32_t nwant, uint32_t files);

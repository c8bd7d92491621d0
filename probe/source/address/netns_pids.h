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

struct owner_search { /* where it continues; all zeros: at the beginning */
	uint32_t below; /* processes with a lower pid are left, and ... */
	uint32_t pid; /* ... those open files of this one; 0: none */
	long at; /* position in its list */
	uint32_t files; /* of it, so far */
};

/*
 * Scans the open files of processes, highest pid first, until all of want (sorted by inode) are
 * found or as many files were read as foreign_limits allows in one turn. False: call it again;
 * true: complete, and the next search begins anew.
 */
bool find_socket_owners(const char *procfs, const struct netns_pids *p, struct owner_search *s,
			struct socket_owner *want, uint32_t nwant);

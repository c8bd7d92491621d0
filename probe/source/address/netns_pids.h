// SPDX-License-Identifier: Apache-2.0
/*
 * netns_pids.h - the processes of the node, or of one cgroup and those below it, the network
 * namespaces that they are in, and which of them has a socket.
 */
#pragma once

#include "lib/base/base.h"

enum { PLACE_NETS = 256 };

struct netns_pids { /* in order */
	uint32_t *pid;
	uint32_t n, room;
};

struct place_net {
	uint64_t inode;
	uint32_t pid; /* one that is in it */
	uint32_t reads; /* since it was found */
};

struct place_nets { /* beside the node's own */
	struct place_net net[PLACE_NETS];
	uint32_t n;
};

struct place_owner { /* who has a socket */
	uint64_t inode;
	uint32_t pid; /* 0: not found */
};

/* below: a directory of cgroup2; "": all processes. */
int netns_pids_read(struct netns_pids *p, const char *procfs, const char *below) MUST_CHECK;
bool netns_pids_has(const struct netns_pids *p, uint32_t pid);
void netns_pids_free(struct netns_pids *p);

uint64_t place_netns(const char *procfs, const char *who); /* its inode; 0: not known */

/*
 * Looks at the open files of processes below pid *from, the youngest first, until all of want,
 * which is in the order of inodes, are found or so many files were looked at. *from is then where
 * to go on; 0: all have been looked at.
 */
void place_owners(const char *procfs, const struct netns_pids *p, uint32_t *from,
		  struct place_owner *want, uint32_t nwant, uint32_t files);

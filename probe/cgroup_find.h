// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_find.h - the path of a cgroup by the kernel's id of it, which is its directory's inode.
 *
 * open_by_handle_at would say it at once, and would let a probe that somebody else controls out of
 * any container, so it is not among the probe's system calls: the directories are looked through.
 */
#pragma once

#include "../lib/base.h"

/* root: the hierarchy's root directory, open. path: "/a/b", or "/" for itself; false: not there. */
bool cgroup_find(int root, uint64_t id, char *path, size_t room);

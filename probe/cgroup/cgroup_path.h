// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_path.h - the path of a cgroup: found by the kernel's id of it, which is its directory's
 * inode, and as the name of an entity.
 *
 * open_by_handle_at would say it at once, and would let a probe that somebody else controls out of
 * any container, so it is not among the probe's system calls: the directories are looked through.
 */
#pragma once

#include "lib/wire/item.h"

/* root: the hierarchy's root directory, open. path: "/a/b", or "/" for itself; false: not there. */
bool cgroup_find(int root, uint64_t id, char *path, size_t room);

/* A path that is too long is a hash and its end, which tells more than its beginning. */
void cgroup_entity(const char *path, char entity[static ITEM_MAX_TEXT]);

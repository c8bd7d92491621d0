// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_path.h - finds the path of a cgroup by the kernel's id, which is the inode of its
 * directory, and makes the path an entity name.
 *
 * open_by_handle_at would answer at once, but it would also let a compromised probe out of any
 * container, so the probe's seccomp filter does not allow it. The directories are searched instead.
 */
#pragma once

#include "lib/wire/item.h"

/* root: a descriptor of the hierarchy's root. path: "/a/b", or "/" for the root; false: not found.
 */
bool cgroup_find(int root, uint64_t id, char *path, size_t room);

/* A path that is too long becomes a hash and the end of the path, which identifies it best. */
void cgroup_entity(const char *path, char entity[static ITEM_MAX_TEXT]);

// SPDX-License-Identifier: Apache-2.0
/*
 * foreign_near.h - finds files without asking a file system that may wait for another program or
 * host: FUSE, network file systems, and stacks of them. Only foreign.c uses it.
 */
#pragma once

#include "lib/base/base.h"

/*
 * 0: reads of the file behind this O_PATH descriptor do not wait for others: it is on a device, or
 * on a file system in memory. own: its process is in our user namespace; others may stack an
 * overlay on a file system of their own. -EREMOTE: they may wait.
 */
int foreign_near(int place, bool own);

/*
 * Resolves a path below root, like chroot; an O_PATH descriptor, or -errno. As far as the kernel
 * has the path cached, it asks no file system; the rest is resolved on near ones, without symbolic
 * links.
 */
int foreign_walk(int root, const char *path, bool own) MUST_CHECK;

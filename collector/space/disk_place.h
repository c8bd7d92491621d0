// SPDX-License-Identifier: Apache-2.0
/*
 * disk_place.h - finds the file system of the database.
 *
 * It is visible when the connection is a local socket of a server whose data directory can be
 * named: by the server (for a role that may read it), by -D of its command line, or as the usual
 * place of its version. The directory must belong to the user of the server. Nothing in it is read.
 */
#pragma once

#include "collector/db/pg.h"

/* A descriptor (O_PATH) for fstatvfs, the caller's to close; `configured` is taken as it is unless
 * empty. -ENOENT: not visible; -errno of a configured directory that cannot be opened. */
int disk_place_open(struct pg *p, const char *configured) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * state_file.h - a file that is replaced atomically: NAME.new, fsync, rename. Reading returns
 * exactly what was written, or an error. The directory is opened before privileges are dropped.
 */
#pragma once

#include <limits.h>

#include "lib/base/buf.h"

enum { STATE_MAX = 8 << 20 };

struct state_file {
	int dir; /* < 0: closed */
	char name[NAME_MAX + 1];
};

int state_file_open(struct state_file *f, const char *path) MUST_CHECK;
void state_file_close(struct state_file *f);

/*
 * Reads the body into out. -ENOENT: no file, or an empty one; -EBADMSG: our file, damaged or of
 * another version; -EEXIST: not our file, do not overwrite it; else -errno.
 */
int state_file_read(const struct state_file *f, struct buf *out) MUST_CHECK;
/* Without sync the file survives the process but not a power loss, and nothing waits for the disk.
 */
int state_file_write(const struct state_file *f, const struct buf *body, bool sync) MUST_CHECK;

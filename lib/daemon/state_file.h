// SPDX-License-Identifier: Apache-2.0
/*
 * state_file.h - one file that is replaced as a whole: NAME.new, fsync, rename. What is read back
 * is exactly what was written, or an error. The directory is opened before privileges go.
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
 * What was given to state_file_write, into out. -ENOENT: there is none yet, or an empty one;
 * -EBADMSG: ours but damaged or of another version; -EEXIST: somebody else's file, not to be
 * written over; else -errno.
 */
int state_file_read(const struct state_file *f, struct buf *out) MUST_CHECK;
/* Not synced it outlives the process, and costs no wait for the disk. */
int state_file_write(const struct state_file *f, const struct buf *body, bool sync) MUST_CHECK;

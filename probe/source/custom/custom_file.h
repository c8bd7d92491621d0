// SPDX-License-Identifier: Apache-2.0
/* custom_file.h - files that nobody but root, or whoever runs the probe, can have written. */
#pragma once

#include "lib/base/buf.h"

/* A directory, open; -errno with what to do about it. */
int custom_dir_open(const char *path, char *err, size_t errlen) MUST_CHECK;
/* Of that directory, whose path is for sentences; a file of at most max bytes. */
int custom_file_read(int dir, const char *path, const char *name, size_t max, struct buf *out,
		  char *err, size_t errlen) MUST_CHECK;

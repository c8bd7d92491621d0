// SPDX-License-Identifier: Apache-2.0
/* custom_file.h - reads files that only root, or the user of the probe, can write. */
#pragma once

#include "lib/base/buf.h"

/* Opens a directory; -errno with a sentence in err that says what to do. */
int custom_dir_open(const char *path, char *err, size_t errlen) MUST_CHECK;
/* Reads a file of at most max bytes from dir; path names dir in sentences. */
int custom_file_read(int dir, const char *path, const char *name, size_t max, struct buf *out,
		     char *err, size_t errlen) MUST_CHECK;

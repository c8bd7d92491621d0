// SPDX-License-Identifier: Apache-2.0
/*
 * privileges.h - drops privileges for good, and raises the limit of file descriptors.
 *
 * Call it before the first thread starts, as threads inherit the result. Errors come with a
 * sentence that names the remedy.
 */
#pragma once

#include "lib/base/base.h"

int privileges_drop(const char *user, char *err, size_t errlen) MUST_CHECK; /* "": keeps the user */
void privileges_descriptors(void);

// SPDX-License-Identifier: Apache-2.0
/*
 * privileges.h - become an ordinary user, for good, and take as many descriptors as are allowed.
 *
 * Before the first thread: what is given up here is given up by threads made later. Errors come
 * with a sentence that says what to do.
 */
#pragma once

#include "lib/base/base.h"

int privileges_drop(const char *user, char *err, size_t errlen) MUST_CHECK; /* "": nobody else */
void privileges_descriptors(void);

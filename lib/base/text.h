// SPDX-License-Identifier: Apache-2.0
/* text.h - text_clean.h with memory from an arena. */
#pragma once

#include "lib/base/arena.h"
#include "lib/base/text_clean.h"

const char *text_clean(struct arena *a, const char *s, size_t len);

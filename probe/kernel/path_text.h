// SPDX-License-Identifier: Apache-2.0
/* path_text.h - the parts of a path, as bpf/lib/fd.h tells them, as a path. */
#pragma once

#include <linux/types.h>

#include "bpf/lib/path.h"
#include "lib/wire/item.h"

/* "/data/ckpt/17.pt", or ".../17.pt" if its beginning is not known; clean, and "(deleted)" behind
 * it. */
void path_text(const struct path_parts *p, bool deleted, char out[static ITEM_MAX_TEXT]);

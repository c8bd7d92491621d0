// SPDX-License-Identifier: Apache-2.0
/* path_text.h - converts the path components sent by bpf/lib/fd.h into a path. */
#pragma once

#include <linux/types.h>

#include "bpf/lib/path.h"
#include "lib/wire/item.h"

/*
 * "/data/ckpt/17.pt", or ".../17.pt" if its beginning is not known; clean text, followed by
 * " (deleted)" for a deleted file.
 */
void path_text(const struct path_parts *p, bool deleted, char out[static ITEM_MAX_TEXT]);

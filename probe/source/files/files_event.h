// SPDX-License-Identifier: Apache-2.0
/* files_event.h - what the kernel told of one slow file operation, as an event. No system calls. */
#pragma once

#include <linux/types.h>

#include "bpf/files/files.h"
#include "lib/wire/item.h"

struct files_op { /* its pieces, as far as they came */
	struct file_name name; /* head.record 0: none */
	struct file_stack block, running; /* its longest block; what it did on a CPU */
	struct file_end end;
};

struct files_text { /* what an event points into */
	char comm[4 * FILE_COMM];
	char file[ITEM_MAX_TEXT];
	char dev[4 * FILE_ID];
};

/* Stacks of evidence are left to the caller: files_event_stack says which. */
void files_event(const struct files_op *op, int64_t wall_minus_mono_ns, struct files_text *text,
		 struct event_item *out);
/* The stack behind evidence i of such an event, or NULL. */
const struct file_stack *files_event_stack(const struct files_op *op, const struct event_item *e,
					   uint32_t i);

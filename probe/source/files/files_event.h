// SPDX-License-Identifier: Apache-2.0
/* files_event.h - one slow file operation, from its kernel records, as an event. No system calls.
 */
#pragma once

#include <linux/types.h>

#include "bpf/files/files.h"
#include "lib/wire/item.h"

struct files_op { /* the records received of one operation */
	struct file_name name; /* head.record 0: none */
	struct file_stack block, running; /* of its longest wait; on a CPU */
	struct file_end end;
};

struct files_text { /* storage for the texts of an event */
	char comm[4 * FILE_COMM];
	char file[ITEM_MAX_TEXT];
	char dev[4 * FILE_ID];
};

/* The caller sets the stacks of evidence; files_event_stack says which. */
void files_event(const struct files_op *op, int64_t wall_minus_mono_ns, struct files_text *text,
		 struct event_item *out);
/* The stack for evidence i of such an event, or NULL. */
const struct file_stack *files_event_stack(const struct files_op *op, const struct event_item *e,
					   uint32_t i);

// SPDX-License-Identifier: Apache-2.0
/*
 * files_pending.h - the records of slow operations that are still running, until their end.
 * Bounded: a new one replaces the oldest, whose event then has no file name.
 */
#pragma once

#include "probe/source/files/files_event.h"

enum { FILES_PENDING = 512 };

struct files_pending;

struct files_pending *files_pending_new(void);
void files_pending_free(struct files_pending *p); /* NULL is fine */

void files_pending_name(struct files_pending *p, const struct file_name *n);
void files_pending_stack(struct files_pending *p, const struct file_stack *s);
/* Returns the stored records together with the end, and drops them. */
void files_pending_end(struct files_pending *p, const struct file_end *e, struct files_op *out);
uint64_t files_pending_full(const struct files_pending *p); /* operations replaced, in total */

// SPDX-License-Identifier: Apache-2.0
/* writer_log.h - what the writer tells the operator: on a change of state, and what to do about it.
 */
#pragma once

#include "collector/store/watermark_store.h"

struct writer_log {
	uint64_t away_ns; /* mono: since when the database does not store; 0: it does */
	uint64_t quarantine_ns; /* mono: when a quarantined batch was told last */
	uint64_t quarantined; /* since then */
	bool was_ready;
};

void writer_log_away(struct writer_log *t, const char *why);
void writer_log_ready(struct writer_log *t);
void writer_log_batch(struct writer_log *t, struct entry *e,
		      const struct batch *b); /* that was committed */
void writer_log_machine(const char *node, const char *machine, const char *was);
void writer_log_left(uint64_t batches); /* at the end, with the database away */

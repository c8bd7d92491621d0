// SPDX-License-Identifier: Apache-2.0
/* writer_log.h - the writer's log lines for the operator: one per change of state, with advice. */
#pragma once

#include "collector/store/watermark_store.h"

struct writer_log {
	uint64_t away_ns; /* mono: database unavailable since; 0: available */
	uint64_t quarantine_ns; /* mono: last log line about a quarantined batch */
	uint64_t quarantined; /* batches since that line */
	bool was_ready;
};

void writer_log_away(struct writer_log *t, const char *why);
void writer_log_ready(struct writer_log *t);
/* b was committed. */
void writer_log_batch(struct writer_log *t, struct entry *e, const struct batch *b);
void writer_log_machine(const char *node, const char *machine, const char *was);
void writer_log_left(uint64_t batches); /* at shutdown, with the database away */

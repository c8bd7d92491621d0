// SPDX-License-Identifier: Apache-2.0
/* tell.h - what the writer tells the operator: on a change of state, and what to do about it. */
#pragma once

#include "collector/store/ledger.h"

struct tell {
	uint64_t away_ns; /* mono: since when the database does not store; 0: it does */
	uint64_t quarantine_ns; /* mono: when a quarantined batch was told last */
	uint64_t quarantined; /* since then */
	bool was_ready;
};

void tell_away(struct tell *t, const char *why);
void tell_ready(struct tell *t);
void tell_batch(struct tell *t, struct entry *e, const struct batch *b); /* that was committed */
void tell_machine(const char *node, const char *machine, const char *was);
void tell_left(uint64_t batches); /* at the end, with the database away */

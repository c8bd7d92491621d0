// SPDX-License-Identifier: Apache-2.0
/*
 * compact_job.h - what is packed in one transaction: an hour, or a part of it, of some nodes.
 *
 * Their rows are taken out and put in as chunks and rollups, or nothing happens. Each chunk was
 * read again and was what it was made of. Where a region is relayed the minutes go to the outbox,
 * too; early, before the hour is over, only there, and the rows stay. Errors are pg.h's; -EBADMSG:
 * a chunk of before is damaged, and can stay as it is if merge is false.
 */
#pragma once

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

struct compact_job {
	uint64_t hour_s, from_s, until_s; /* wall */
	const char *nodes; /* "{1,2}" */
	bool merge; /* with what is packed of them */
	const char *region; /* NULL: it is not relayed */
	bool early;
	const char *then; /* early: a statement of the same transaction */
};

enum { SEAL_JOB_VALUES = 4 << 20 }; /* are enough for one, of all nodes, if they are of one hour */

int compact_job_run(struct pg *p, const struct pairmap *layouts, const struct compact_job *job,
		 uint64_t *values) MUST_CHECK;
void compact_time_text(uint64_t wall_s, char text[static 32]);

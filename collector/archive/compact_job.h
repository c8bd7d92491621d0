// SPDX-License-Identifier: Apache-2.0
/*
 * compact_job.h - one transaction of compaction: an hour, or a part of it, of some nodes.
 *
 * The transaction replaces their rows by chunks and rollups, or changes nothing. Each chunk is
 * decoded and compared before its rows are deleted. If the region is relayed, the minutes are put
 * into the outbox as well; an early job, of an unfinished hour, only does that and keeps the rows.
 * Errors are those of pg.h; -EBADMSG: an earlier chunk is damaged; with merge false it stays as it
 * is.
 */
#pragma once

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

struct compact_job {
	uint64_t hour_s, from_s, until_s; /* wall */
	const char *nodes; /* "{1,2}" */
	bool merge; /* with the chunks that they already have */
	const char *region; /* NULL: it is not relayed */
	bool early;
	const char *then; /* early: a statement to run in the same transaction */
};

enum { SEAL_JOB_VALUES = 4 << 20 }; /* values of one job, of any nodes but of one hour */

int compact_job_run(struct pg *p, const struct pairmap *layouts, const struct compact_job *job,
		    uint64_t *values) MUST_CHECK;
void compact_time_text(uint64_t wall_s, char text[static 32]);

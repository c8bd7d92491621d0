// SPDX-License-Identifier: Apache-2.0
/*
 * space.h - the thread that keeps the database within max_disk.
 *
 * Near the limit it drops the data of the lowest value first, in the order of
 * schema/sql/functions/12_disk.sql and never of the newest hour; each drop is logged, counted and
 * kept in table disk_drop. At the limit, batches are refused, and the probes keep them. It also
 * measures the tables and forecasts when the limit is reached. It has a database connection of its
 * own. Of several collectors on one database, one drops at a time.
 */
#pragma once

#include "collector/core/disk_limit.h"

struct space;

struct space_config {
	const char *database; /* the caller's, like place */
	struct disk_limit limit;
	const char *place; /* a directory on the database's file system; "": find it */
};

int space_start(struct space **out, const struct space_config *cfg) MUST_CHECK;
void space_stop(struct space *s); /* NULL is fine; a running drop is not waited for */
/* Any thread: the reason why no batch may be stored now, or NULL. */
const char *space_refusal(void *space);

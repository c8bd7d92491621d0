// SPDX-License-Identifier: Apache-2.0
/*
 * red_roll.h - the thread that rolls red up by one and by ten minutes, for the topology:
 * schema/sql/049_baseline/60_red.sql and functions/40_red.sql have the rules.
 *
 * The thread has a database connection of its own, so that it and compaction never wait for each
 * other. Of several collectors on one database, one rolls up at a time. An error is logged once and
 * the work is retried. NOTIFY seismo_seal makes it do at once all that is due.
 */
#pragma once

#include "lib/base/base.h"

struct red_roll;

int red_roll_start(struct red_roll **out, const char *database) MUST_CHECK;
void red_roll_stop(struct red_roll *s); /* NULL is fine; aborts a running slot */

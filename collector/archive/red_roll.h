// SPDX-License-Identifier: Apache-2.0
/*
 * red_roll.h - the thread that rolls red up by the minute and by ten minutes, for who calls whom:
 * schema/sql/049_baseline/60_red.sql and functions/40_red.sql have the rules.
 *
 * It has a connection of its own, so that it waits for nobody's packing, nor anybody for it. Of
 * several collectors on one database one is at it at a time. A database that is away, or that
 * refuses, is said once and tried again. NOTIFY seismo_seal: do now what is due.
 */
#pragma once

#include "lib/base/base.h"

struct red_roll;

int red_roll_start(struct red_roll **out, const char *database) MUST_CHECK;
void red_roll_stop(struct red_roll *s); /* NULL is fine; a slot under way is given up */

// SPDX-License-Identifier: Apache-2.0
/*
 * red_roll.h - red by ten minutes, for who calls whom: schema/027_red_rollup.sql has the rules.
 *
 * By one collector of a database at a time. Errors are pg.h's; what was rolled up until then stays.
 */
#pragma once

#include <stdatomic.h>

#include "pg.h"

enum { RED_SLOT_S = 600, RED_SETTLE_S = 35 /* more than close_red waits */ };

int red_roll(struct pg *p, const atomic_bool *stop) MUST_CHECK; /* all that is due */

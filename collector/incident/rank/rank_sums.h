// SPDX-License-Identifier: Apache-2.0
/* rank_sums.h - arithmetic on the sums that a ranking is made from; below incident_rank and
 * incident_via. */
#pragma once

#include "collector/incident/rank/incident_rank.h"

/* The excess of a sum over what it was before. */
double rank_net(const struct rank_sum *s, bool errors);
void rank_add_times(struct rank_times *t, const struct rank_sum *s);
/* How much longer a request took than before, on average. False: nothing to compare. */
bool rank_slower_by(const struct rank_times *t, double *us);

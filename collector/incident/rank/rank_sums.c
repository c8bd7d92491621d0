// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/rank/rank_sums.h"

static double excess_over_before(double now, double n, double before, double n_before)
{
	double net_of = now - (n_before > 0 ? n * before / n_before : 0);

	return net_of > 0 ? net_of : 0;
}

double rank_net(const struct rank_sum *s, bool errors)
{
	if (errors)
		return excess_over_before(s->errors, s->n, s->errors_before, s->n_before);
	return excess_over_before(s->excess, s->judged, s->excess_before, s->judged_before);
}

void rank_add_times(struct rank_times *t, const struct rank_sum *s)
{
	t->n += s->n;
	t->n_before += s->n_before;
	t->us += s->us;
	t->us_before += s->us_before;
}

bool rank_slower_by(const struct rank_times *t, double *us)
{
	if (t->n <= 0 || t->n_before <= 0)
		return false;
	*us = t->us / t->n - t->us_before / t->n_before;
	return true;
}

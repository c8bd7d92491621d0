// SPDX-License-Identifier: Apache-2.0
/*
 * incident_share.h - what of an incident is no single host's: a class that many hosts of a region
 * have by themselves, or ways that became slow to many of them. Pure.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

struct share_host { /* a candidate of the ranking */
	uint64_t node; /* 0: external */
	double own, edge;
};

struct incident_share {
	char class[SIGNAL_CLASS]; /* "": nothing */
	int hosts; /* that have it; 0: nothing */
	bool even; /* none of them had much more of it than another: no first one is to be named */
};

/* host: the candidates, the first first; nodes: in the region. */
void incident_share(const struct incident *i, const struct share_host *host, int nhosts,
		    double nodes, struct incident_share *out);

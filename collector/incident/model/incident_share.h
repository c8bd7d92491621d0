// SPDX-License-Identifier: Apache-2.0
/*
 * incident_share.h - finds a cause that hosts share: a class that many hosts of a region have on
 * their own, or network ways that became slow to many of them. Pure.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

struct share_host { /* a candidate in the ranking */
	uint64_t node; /* 0: external */
	double own, edge;
};

struct incident_share {
	char class[SIGNAL_CLASS]; /* "": none */
	int hosts; /* number of hosts with it; 0: none */
	bool even; /* no host has much more than the others: none is named as the first */
};

/* host: the candidates in ranking order; nodes: number of nodes in the region. */
void incident_share(const struct incident *i, const struct share_host *host, int nhosts,
		    double nodes, struct incident_share *out);

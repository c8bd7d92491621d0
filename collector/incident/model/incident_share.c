// SPDX-License-Identifier: Apache-2.0
#include "collector/incident/model/incident_share.h"

#include <stdio.h>
#include <string.h>

enum { MANY_HOSTS = 3 };
/* MANY_PART: of a region's nodes; AS_MUCH: of what the first host has. */
static const double MANY_PART = 0.3, AS_MUCH = 0.5;
static const char WAYS[] = "net";

static int count_hosts(const struct incident *i, const char *class)
{
	int n = 0;

	for (size_t k = 0; k < i->nsignals; k++) {
		bool again = false;

		for (size_t j = 0; j < k; j++)
			again |= i->signal[j]->node == i->signal[k]->node &&
				 strcmp(i->signal[j]->class, class) == 0;
		n += !again && strcmp(i->signal[k]->class, class) == 0;
	}
	return n;
}

static bool are_many(int hosts, double nodes)
{
	return hosts >= MANY_HOSTS || (hosts >= 2 && nodes > 0 && hosts >= MANY_PART * nodes);
}

static bool has_class(const struct incident *i, uint64_t node, const char *class)
{
	for (size_t k = 0; k < i->nsignals; k++)
		if (i->signal[k]->node == node && strcmp(i->signal[k]->class, class) == 0)
			return true;
	return false;
}

static bool all_have(const struct incident *i, const struct share_host *host, int n,
		     const char *class)
{
	for (int k = 0; k < n; k++)
		if (!has_class(i, host[k].node, class))
			return false;
	return true;
}

/* The number of first hosts that had at least half as much as the first one. */
static int even_hosts(const struct share_host *host, int nhosts)
{
	int n = 0;

	while (n < nhosts && host[n].node &&
	       host[n].own + host[n].edge >= AS_MUCH * (host[0].own + host[0].edge))
		n++;
	return n;
}

static bool are_ways(const struct share_host *host, int n)
{
	double own = 0, edge = 0;

	for (int k = 0; k < n; k++) {
		own += host[k].own;
		edge += host[k].edge;
	}
	return edge > own;
}

static void set_share(struct incident_share *out, const char *class, int hosts, bool even)
{
	snprintf(out->class, sizeof(out->class), "%s", class);
	out->hosts = hosts;
	out->even = even;
}

/* For example a disk shared by two hosts makes both slow; the network of a region slows all its
 * ways. */
void incident_share(const struct incident *i, const struct share_host *host, int nhosts,
		    double nodes, struct incident_share *out)
{
	int even = even_hosts(host, nhosts);

	*out = (struct incident_share){ 0 };
	for (size_t k = 0; k < i->nsignals; k++) {
		const char *class = i->signal[k]->class;
		int hosts = count_hosts(i, class);
		bool evenly = even >= 2 && all_have(i, host, even, class);

		if (signal_is_own(class) && are_many(hosts, nodes) &&
		    (evenly > out->even || (evenly == out->even && hosts > out->hosts)))
			set_share(out, class, hosts, evenly);
	}
	if (!out->even && even >= MANY_HOSTS && are_ways(host, even))
		set_share(out, WAYS, even, true);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * incident_via.h - a balancer, a virtual address, a NAT, or whatever host without a probe
 * passes requests on: what the hosts behind it had of them did not arise on the way to it.
 *
 * Those behind are told by who asked them: the address that others call, or a caller that never
 * calls them by their own. Of one whose calls leave from another address nothing is known.
 */
#pragma once

#include "collector/incident/model/incident_rank.h"

/* "10.0.0.1:80" and "[::1]:80" are called at "10.0.0.1" and "::1". */
bool rank_is_at(const char *called, const char *asker);

/* Takes it off the edges to external hosts, and appends those from there on, on which nothing
 * arose: how many there are then. Not more than there are sums. */
size_t rank_through(const struct rank_input *in, bool errors, struct rank_edge *edge, size_t n);

// SPDX-License-Identifier: Apache-2.0
/*
 * incident_via.h - hosts without a probe that forward requests (balancer, virtual address, NAT):
 * the time of the hosts behind them did not arise on the way to them.
 *
 * The hosts behind are known by their caller: the address that others call, or a caller that
 * never calls them directly. A forwarder whose calls leave from another address cannot be
 * resolved.
 */
#pragma once

#include "collector/incident/rank/incident_rank.h"

/* Whether the called address ("10.0.0.1:80", "[::1]:80") is that of the asker ("10.0.0.1",
 * "::1"). */
bool rank_is_at(const char *called, const char *asker);

/* Subtracts the time of the hosts behind from the edges to external hosts, and appends edges
 * from there on, on which nothing arose. Returns the number of edges, at most the number of
 * sums. */
size_t rank_via(const struct rank_input *in, bool errors, struct rank_edge *edge, size_t n);

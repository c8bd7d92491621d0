// SPDX-License-Identifier: Apache-2.0
/*
 * tcp_watch.h - detects when more segments are lost, or more connects fail, than usual on this
 * node, and with which peers. No system calls.
 *
 * A step: tcp_watch_suspicious says whether there may be trouble; if so, the peers are added by
 * tcp_watch_add; then tcp_watch_step.
 */
#pragma once

#include "probe/core/sink.h"
#include "probe/source/tcp/tcp_event.h"

enum { TCP_WATCHED = 32 };

struct tcp_watch {
	enum tcp_trouble_kind kind;
	struct episode episode;
	int64_t wall_minus_mono_ns; /* as it was when the episode opened */
	uint64_t n; /* since it opened, or since trouble became possible */
	struct tcp_worst worst[TCP_WATCHED];
	size_t nworst;
};

void tcp_watch_init(struct tcp_watch *w, enum tcp_trouble_kind kind);
/* n in this time is enough to compute a share, or an episode is open. */
bool tcp_watch_suspicious(const struct tcp_watch *w, uint64_t n, double seconds);
void tcp_watch_add(struct tcp_watch *w, const struct tcp_worst *more);
/* n out of `of` since the last step; of 0: the total is not known yet. */
void tcp_watch_step(struct tcp_watch *w, uint64_t n, uint64_t of, bool suspicious, uint64_t now_ns,
		    uint64_t wall_ns, struct sink *out);

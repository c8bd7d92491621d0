// SPDX-License-Identifier: Apache-2.0
/*
 * tcp_watch.h - when more segments are lost, or more connections do not come about, than is usual
 * on this node; and with whom. No system calls.
 *
 * A step: tcp_watch_much says whether there may be something; if so, who it was is put in by
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
	uint64_t n; /* since it opened, or since there may be something */
	struct tcp_worst worst[TCP_WATCHED];
	size_t nworst;
};

void tcp_watch_init(struct tcp_watch *w, enum tcp_trouble_kind kind);
/* So many in so long are enough to look at their share, or were and are being watched. */
bool tcp_watch_much(const struct tcp_watch *w, uint64_t n, double seconds);
void tcp_watch_add(struct tcp_watch *w, const struct tcp_worst *more);
/* n of that many since the last step; of 0: how many is to be said later. */
void tcp_watch_step(struct tcp_watch *w, uint64_t n, uint64_t of, bool much, uint64_t now_ns,
		    uint64_t wall_ns, struct sink *out);

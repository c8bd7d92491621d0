// SPDX-License-Identifier: Apache-2.0
/*
 * play.h - plays windows of a recording one after the other, all hosts in step: none is more than a
 * few seconds of the recording ahead of what is stored of another.
 *
 * Says on standard output which address stands for which host ("host NAME ADDRESS"), and as each
 * window begins "window NAME BEGIN END RECORDED", in microseconds since 1970: where it is in time
 * now, and when it was recorded.
 */
#pragma once

#include "replay/recording.h"

struct play_config {
	const char *collector, *collector_key, *keys, *token;
	const char *windows; /* "a,b*3"; NULL: all */
	uint64_t until_ns; /* 0: now */
	double speed; /* 0: as fast as it is stored */
	double slow_ms;
};

int play(struct recording *r, const struct play_config *cfg, char *why) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * play.h - plays windows of a recording one after the other, all hosts in step: no host is more
 * than a few seconds of the recording ahead of the stored records of another.
 *
 * Prints the address of each host to standard output ("host NAME ADDRESS"), and at the start of
 * each window "window NAME BEGIN END RECORDED", in microseconds since 1970: its times in the
 * replay, and when it was recorded.
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

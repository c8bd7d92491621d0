// SPDX-License-Identifier: Apache-2.0
/*
 * summary.h - prints what a recording holds, for --check: records, hosts, times, windows, and how
 * many calls belong to a request of their caller.
 */
#pragma once

#include "replay/recording.h"

enum { REPLAY_HOSTS_MAX = 100 }; /* hosts of a recording that can be replayed */

void summary_print(const struct recording *r);

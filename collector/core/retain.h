// SPDX-License-Identifier: Apache-2.0
/* retain.h - retention: for how many days each class of data is kept. */
#pragma once

#include "lib/base/base.h"

/* 0: as long as requests. */
struct retain {
	int64_t requests; /* and their counts */
	int64_t evidence, events;
	int64_t profiles;
	int64_t samples, minutes, ten_minutes, hours; /* minutes: samples rolled up to these */
};

enum { RETAIN_TEXT = 304 };

void retain_text(const struct retain *k, char text[static RETAIN_TEXT]); /* for drop_old(jsonb) */
int64_t retain_stacks(const struct retain *k); /* of evidence and of profiles */
int64_t retain_least(const struct retain *k); /* of all tables that take new rows */

// SPDX-License-Identifier: Apache-2.0
/*
 * culprits.h - who uses what others wait for: what the processes of /proc did since the first of
 * several looks. One is made when something waits and freed when nothing does, so that a quiet
 * node pays nothing. Looks take at most a hundredth of a CPU's time: after two of them, or before
 * it is freed, that time has to pass.
 *
 * A process that was not there at the first look counts with all it did; one that ended is
 * remembered by its name.
 */
#pragma once

#include "lib/base/buf.h"

enum { OFFENDER_COMM = 16, OFFENDERS_MAX = 4096 };

enum offence {
	OFFENCE_CPU, /* seconds on a CPU; waited: seconds of its threads for one, else in sleep
			that nothing interrupts, by samples */
	OFFENCE_IO, /* bytes read from disks, and written or made dirty */
	OFFENCE_MEMORY, /* bytes brought into memory: allocated, read, swapped in */
};

struct offender { /* processes of one name */
	char comm[OFFENDER_COMM];
	uint32_t pid; /* of the one that did most; 0: it ended */
	double did, waited;
};

struct offenders;

/* below: only these wait, those of cgroup2 in and below this path of its hierarchy; "": all */
struct offenders *offenders_new(const char *procfs, enum offence what, const char *below);
void offenders_free(struct offenders *o); /* NULL is fine */

bool offenders_due(const struct offenders *o, uint64_t now_ns); /* for the next look */
bool offenders_paid(const struct offenders *o, uint64_t now_ns); /* it may be freed */
int offenders_look(struct offenders *o, uint64_t now_ns); /* -errno: no processes to be seen */

void offenders_forget(struct offenders *o); /* the last look becomes the first */

/*
 * Threads of ordinary priority that waited for a CPU between the last two looks, on average, and
 * CPUs that were used then; NaN: there were no two. Those of idle priority, or of a nice value of
 * 10 and more, are for what may wait.
 */
double offenders_waiting(const struct offenders *o);
double offenders_busy(const struct offenders *o);

/* Those that did most, of OFFENCE_CPU those that may wait last; and those that waited most. */
size_t offenders_worst(struct offenders *o, struct offender *out, size_t room);
size_t offenders_victims(struct offenders *o, struct offender *out, size_t room);
double offenders_seconds(const struct offenders *o); /* from the first look to the last */

DEFINE_AUTO(struct offenders *, offenders_free)

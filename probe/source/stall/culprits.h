// SPDX-License-Identifier: Apache-2.0
/*
 * culprits.h - which processes use the resource that others wait for: the growth of their counters
 * in /proc since the first of several scans. Created when something waits and freed when nothing
 * does, so that an idle node pays nothing. Scans take at most 1 % of a CPU: after two scans, and
 * before it is freed, the time that this limit requires must pass.
 *
 * A process that started after the first scan counts in full; processes that ended are remembered
 * by name.
 */
#pragma once

#include "lib/base/buf.h"

enum { CULPRIT_COMM = 16, CULPRITS_MAX = 4096 };

enum stall_resource {
	STALL_CPU, /* seconds on a CPU; waited: seconds of its threads on run queues, or in
			uninterruptible sleep, by samples */
	STALL_IO, /* bytes read from disks, and written or made dirty */
	STALL_MEMORY, /* bytes brought into memory: allocated, read, swapped in */
};

struct culprit { /* processes of one name */
	char comm[CULPRIT_COMM];
	uint32_t pid; /* of the process that used most; 0: it ended */
	double did, waited;
};

struct culprits;

/* below: counts waiting only of processes at or below this cgroup2 path; "": of all processes. */
struct culprits *culprits_new(const char *procfs, enum stall_resource what, const char *below);
void culprits_free(struct culprits *o); /* NULL is fine */

bool culprits_due(const struct culprits *o, uint64_t now_ns); /* for the next scan */
bool culprits_paid(const struct culprits *o, uint64_t now_ns); /* may be freed */

/*
 * Scans, using at most 10 ms of CPU time. 0: the scan is complete; 1: it goes on with the next
 * call, and until then the results are those of the scan before; -errno: /proc is unreadable.
 */
int culprits_scan(struct culprits *o, uint64_t now_ns);

bool culprits_going_on(const struct culprits *o); /* a scan is not complete yet */
void culprits_forget(struct culprits *o); /* the last scan becomes the first */

/*
 * Average between the last two scans; NaN: there were not two. waiting: threads of ordinary
 * priority that waited for a CPU (idle priority and nice values of 10 and more are excluded). busy:
 * CPUs in use.
 */
double culprits_waiting(const struct culprits *o);
double culprits_busy(const struct culprits *o);

/* The top users (for STALL_CPU, low-priority processes last), and the processes that waited most.
 */
size_t culprits_worst(struct culprits *o, struct culprit *out, size_t room);
size_t culprits_victims(struct culprits *o, struct culprit *out, size_t room);
double culprits_seconds(const struct culprits *o); /* from the first scan to the last */

DEFINE_AUTO(struct culprits *, culprits_free)

// SPDX-License-Identifier: Apache-2.0
/* disk_busy.h - the busiest disks since the first sample, from /proc/diskstats. */
#pragma once

#include "lib/base/buf.h"

enum { DISK_BUSY_NAME = 32, DISK_BUSY_MAX = 64 };

struct disk_busy { /* one whole disk, loop and stacked devices included */
	char name[DISK_BUSY_NAME];
	double util; /* share of the time with requests in flight */
	double queue; /* requests at a time, on average */
	double await_ms; /* of one request; NaN: none completed */
	uint32_t in_flight;
};

struct disk_watch;

struct disk_watch *disk_watch_new(const char *procfs, const char *sysfs);
void disk_watch_free(struct disk_watch *w); /* NULL is fine */
int disk_watch_sample(struct disk_watch *w,
		      uint64_t now_ns); /* takes a sample; -errno: unreadable */
size_t disk_watch_worst(const struct disk_watch *w, struct disk_busy *out, size_t room);

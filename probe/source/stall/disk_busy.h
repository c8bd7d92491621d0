// SPDX-License-Identifier: Apache-2.0
/* disk_busy.h - which disks had most to do since they were first looked at, from /proc/diskstats.
 */
#pragma once

#include "lib/base/buf.h"

enum { DISK_BUSY_NAME = 32, DISK_BUSY_MAX = 64 };

struct disk_busy { /* one whole disk; loop devices and those made of others are such, too */
	char name[DISK_BUSY_NAME];
	double util; /* share of the time in which it had something to do */
	double queue; /* requests at a time, on average */
	double await_ms; /* of one request; NaN: none was answered */
	uint32_t in_flight;
};

struct disk_watch;

struct disk_watch *disk_watch_new(const char *procfs, const char *sysfs);
void disk_watch_free(struct disk_watch *w); /* NULL is fine */
int disk_watch_look(struct disk_watch *w, uint64_t now_ns); /* -errno: not to be read */
size_t disk_watch_worst(const struct disk_watch *w, struct disk_busy *out, size_t room);

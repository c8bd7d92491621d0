// SPDX-License-Identifier: Apache-2.0
/*
 * proc_devices.h - disks or interfaces, remembered by name between ticks.
 *
 * devices_begin, then devices_sample for each device found, then devices_end, which forgets the
 * others: a device that comes back is new. Bounded; devices beyond the limit are counted.
 */
#pragma once

#include "probe/core/layout.h"
#include "probe/procfs/proc_text.h"
#include "probe/core/sink.h"

enum { MAX_DEVICES = 128, DEVICE_NAME = 33, DEVICE_VALUES = 24 };

struct proc_device {
	char name[DEVICE_NAME];
	bool seen;
	double last[DEVICE_VALUES];
};

struct devices {
	struct proc_device device[MAX_DEVICES];
	uint32_t n;
	uint32_t cut; /* not reported in this tick */
};

void devices_begin(struct devices *d);
void devices_sample(struct devices *d, const struct words *name, const struct wire_dict *layout,
		    const double *raw, struct sink *out);
void devices_end(struct devices *d);

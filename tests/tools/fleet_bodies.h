// SPDX-License-Identifier: Apache-2.0
/* fleet_bodies.h - what the nodes of fleet.c send: bodies made beforehand, which they share. */
#pragma once

#include <stdio.h>

#include "lib/wire/wire.h"

enum { FLEET_BODIES = 64 };

struct fleet_bodies {
	struct wire_dict dict;
	struct buf body[FLEET_BODIES];
};

/* Deltas, most of them small, byte counts, zeros and ratios: 4 to 5 bytes each on the wire. */
static double fleet_value(unsigned i)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	switch (i % 10) {
	case 4:
	case 5:
		return (double)(uint32_t)x;
	case 6:
		return 0;
	case 7:
		return (double)(x >> 11) * 0x1p-53;
	case 8:
		return (double)(x % 256) / 256;
	case 9:
		return (double)(x % 4000000) * 4096;
	}
	return (double)(x % 1000);
}

static void fleet_make_bodies(struct fleet_bodies *b, uint32_t entities, uint32_t metrics)
{
	struct wire_metric *m = calloc(metrics, sizeof(*m));
	double *v = calloc(metrics, sizeof(*v));
	char name[32];

	if (!m || !v || metrics > ITEM_MAX_VALUES)
		exit(2);
	for (uint32_t i = 0; i < metrics; i++) {
		snprintf(name, sizeof(name), "fleet_%03u_total", i);
		m[i] = (struct wire_metric){ strdup(name), "things", METRIC_COUNTER };
	}
	b->dict = (struct wire_dict){ .entity_kind = "fleet", .n = metrics, .metrics = m };
	b->dict.layout = wire_layout_id(&b->dict);
	for (uint32_t n = 0; n < FLEET_BODIES * entities; n++) {
		for (uint32_t i = 0; i < metrics; i++)
			v[i] = fleet_value(i);
		snprintf(name, sizeof(name), "disk%u", n % entities);
		wire_put_sample(&b->body[n / entities],
				&(struct sample_item){ b->dict.layout, name, metrics, v });
	}
	free(v);
}

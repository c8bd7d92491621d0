// SPDX-License-Identifier: Apache-2.0
/* config.h - what seismo-probe can be told, by file and by flag. deploy/probe.conf is the sample. */
#pragma once

#include "../lib/base.h"

struct probe_config {
	char node[64]; /* default: the host's name */
	char collector[256]; /* tcp://host:port */
	int64_t spool_mb; /* batches kept in memory until they are acked */
	double slow_ms; /* fixed limit for every route; < 0: each route's own */
	bool query_string; /* let query strings leave the node */
	int64_t rows_per_s; /* more abnormal requests than this are counted, not sent */
	int64_t ring_mb; /* of the kernel's event ring; a power of two */
};

// SPDX-License-Identifier: Apache-2.0
/* source_config.h - options of sources that a test opens: the defaults, but without nginx. */
#pragma once

#include "probe/core/probe_config.h"

static struct probe_config source_config = { .node = "test",
					     .slow_ms = -1,
					     .rows_per_s = 1000,
					     .ring_mb = 1,
					     .hooks = "auto",
					     .nginx = "off",
					     .conns = 1024,
					     .on_demand = "all",
					     .split = true,
					     .slow_file_ms = 10,
					     .slow_file_clock = "auto",
					     .slow_files_per_s = 100,
					     .stuck_s = 1,
					     .profile = 19,
					     .cpu_wait_share = 10,
					     .cpu_stall_pct = 40,
					     .io_stall_pct = 30,
					     .memory_stall_pct = 15 };

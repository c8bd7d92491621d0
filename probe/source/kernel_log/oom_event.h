// SPDX-License-Identifier: Apache-2.0
/* oom_event.h - an OOM kill as an event. No system calls. */
#pragma once

#include <linux/types.h>

#include "bpf/memory/oom.h"
#include "probe/source/kernel_log/oom_report.h"
#include "probe/core/sink.h"

struct oom_seen {
	const struct oom_victim *victim; /* NULL: only the log has it */
	const struct oom_report *report; /* NULL: the log has nothing */
	uint64_t wall_ns; /* when */
	uint64_t page_bytes;
	uint64_t stack; /* id; 0: none */
	const char *cgroup; /* the victim's, if the log does not name it; "": unknown */
};

void oom_event_send(const struct oom_seen *o, struct sink *out);

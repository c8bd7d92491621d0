// SPDX-License-Identifier: Apache-2.0
/*
 * source.h - the interface of a source: one subject that the probe measures.
 *
 * The probe opens a source once, reads it on its own period, and closes it. A source writes items
 * to the sink and keeps no reference to the sink. If open fails, the probe calls close, reports the
 * source as off with env->why (or the text of the error) as the reason, and continues. close must
 * work on a half-opened source.
 */
#pragma once

#include "probe/core/probe_config.h"
#include "probe/core/sink.h"

struct kernel_events;
struct switch_chain;

struct probe_env {
	const char *procfs; /* "/proc", or a copy in tests */
	const char *sysfs;
	const struct probe_config *config;
	struct kernel_events *kernel_events; /* shared by sources of kernel events; NULL: none */
	struct switch_chain *chain; /* NULL: every source attaches to sched_switch by itself */
	char *why; /* WHY_LEN bytes: a failed open writes what is missing and what to do */
	void *arg; /* of the source being opened: its struct source.arg */
};

enum { WHY_LEN = 256 };

/*
 * When the next read is due, as read returns it. SOURCE_RESTS: there was nothing to do, so after
 * rest_ms, or earlier if the descriptor becomes readable. SOURCE_GOES_ON: it was too much for one
 * turn of the loop, so after step_ms.
 */
enum source_pace { SOURCE_ON_TIME, SOURCE_RESTS, SOURCE_GOES_ON };

struct source {
	const char *name;
	const char *help;
	uint32_t period_ms; /* between two reads */
	uint32_t rest_ms; /* between two reads while the source rests; 0: it never rests */
	uint32_t step_ms; /* between two reads while one goes on; 0: none does */
	bool steady; /* its cost is proportional to its reads: the budget may skip some */
	bool needs_hardware; /* reads hardware a host may lack: disabled is not a problem */
	size_t size; /* of the private state, which the caller allocates and zeroes */
	const struct wire_dict *const *layouts; /* of its samples; NULL: it sends none */
	size_t nlayouts;
	void *arg; /* distinguishes sources that share their functions */
	uint32_t ring_max; /* upper bound (bytes) for a ring that grows with the CPUs; 0: fixed */
	uint32_t counts_max; /* upper bound for per-CPU counters; 0: none */
	const char
		*sampled; /* with sample: the subject of its kernel programs ("waits for locks") */

	int (*open)(void *self, const struct probe_env *env);
	int (*read)(void *self, struct sink *out); /* enum source_pace, or -errno */
	int (*wakes)(void *self); /* NULL, or returns a descriptor: readable when data is ready */
	void (*close)(void *self);
	/*
	 * NULL, or makes the kernel programs process 1 of 2^step events from now on; the budget
	 * calls it. The source corrects its own figures: it scales each event up, or reports the
	 * time observed. Not for cheap programs, nor for events that must not be lost.
	 */
	void (*sample)(void *self, uint32_t step);
};

#define SOURCE(name) extern const struct source source_##name;
#include "probe/core/sources.def"
#undef SOURCE

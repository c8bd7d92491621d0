// SPDX-License-Identifier: Apache-2.0
/*
 * source.h - one thing a probe measures.
 *
 * A source is opened once, read on its own period, and closed. It writes to the sink and keeps
 * nothing of it. A failed open is not the probe's end: it calls close and reports the source as
 * off, with env->why (or the error's text) as the reason. close works on what half opened.
 */
#pragma once

#include "probe/core/probe_config.h"
#include "probe/core/sink.h"

struct kernel_events;
struct switch_chain;

struct probe_env {
	const char *procfs; /* "/proc", or a test's copy of it */
	const char *sysfs;
	const struct probe_config *config;
	struct kernel_events *kernel_events; /* shared by the kernel event sources; NULL: not shared */
	struct switch_chain *chain; /* NULL: each has its own way to the scheduler's switches */
	char *why; /* WHY_LEN bytes: open says here what is missing and what to do */
	void *arg; /* of the source that is opened */
};

enum { WHY_LEN = 256 };

/* What a read says when nothing happens: it need not be read again before rest_ms are over, or its
 * descriptor is readable.
 */
enum { SOURCE_RESTS = 1 };

struct source {
	const char *name;
	const char *help;
	uint32_t period_ms; /* between two reads */
	uint32_t rest_ms; /* and while it rests; 0: it never does */
	bool steady; /* what it costs goes by how often it is read: the budget may have it read
			rarer */
	bool of_hardware; /* a host without what it reads is whole: nobody minds */
	size_t size; /* of the private state; the core allocates and zeroes it */
	const struct wire_dict *const *layouts; /* what its samples mean; NULL: it has none */
	size_t nlayouts;
	void *arg; /* what tells sources with the same functions apart */
	uint32_t ring_most; /* its ring is larger on more processors, up to so many bytes; 0: no */
	uint32_t counts_most; /* of its counts for each processor there are no more; 0: no limit */
	const char *sampled; /* what its kernel programs look at ("waits for locks"), with sample */

	int (*open)(void *self, const struct probe_env *env);
	int (*read)(void *self, struct sink *out); /* 0, SOURCE_RESTS or -errno */
	int (*wakes)(void *self); /* NULL, or a descriptor: readable when there is something */
	void (*close)(void *self);
	/*
	 * NULL, or its kernel programs look at 1 in 2^step of what they would, from now on: the
	 * budget may have them to. It says itself what is told then: each counts for so many, or
	 * how long was watched. Not for what is cheap by nature, or must not be lost.
	 */
	void (*sample)(void *self, uint32_t step);
};

#define SOURCE(name) extern const struct source source_##name;
#include "probe/core/sources.def"
#undef SOURCE

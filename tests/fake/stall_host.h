// SPDX-License-Identifier: Apache-2.0
/*
 * stall_host.h - source_stalls on a host made of files, in virtual time: processes that use CPUs,
 * disks and memory, and wait. The test sets rates per second; stall_tick advances by half a second.
 */
#pragma once

#include "probe/core/source.h"
#include "probe/source/stall/stall_event.h"

enum { STALL_PROCS = 8 };

struct stall_proc {
	uint32_t pid; /* 0: unused */
	const char *comm, *cgroup;
	int nice, policy, threads;
	double cpu, wait; /* CPUs used; threads waiting for a CPU */
	double read, written, grows; /* bytes */
	/* totals so far */
	double cpu_s, wait_s, read_bytes, written_bytes, rss;
};

struct stall_host {
	char dir[64], sysfs[72];
	struct probe_config config;
	struct stall_proc proc[STALL_PROCS];
	double share[STALL_MEMORY + 1]; /* of the time something waits for a CPU, I/O, memory */
	double total_us[STALL_MEMORY + 1];
	double util, queue; /* of disk sda, and its partition */
	double busy_ms, queue_ms, ios;
	uint64_t now_ns;
	void *self;
	struct sink sink;
	struct arena *arena;
	struct wire_body sent; /* in the last tick */
	uint32_t events; /* events sent so far */
};

void stall_host_open(struct stall_host *h);
void stall_host_close(struct stall_host *h);
struct stall_proc *stall_host_start(struct stall_host *h, uint32_t pid, const char *comm);
void stall_host_end(struct stall_host *h, struct stall_proc *p);
void stall_tick(struct stall_host *h);
/* Ticks until an event is sent, at most for the given seconds; NULL: no event. */
const struct event_item *stall_until(struct stall_host *h, double seconds);

// SPDX-License-Identifier: Apache-2.0
/* config.h - what seismo-probe can be told, by file and by flag. deploy/conf/probe.conf is the sample.
 */
#pragma once

#include "lib/base/base.h"

struct probe_config {
	char node[64]; /* default: the host's name */
	char collector[1024]; /* tcp://host:port, or several, parted by commas */
	char collector_key[1024]; /* their public keys, or files of such, parted by commas */
	char keys[256]; /* directory of this node's key pair */
	char token[512]; /* a file: what lets this node in without a person; "": none */
	int64_t spool_mb; /* batches kept in memory until they are acked */
	char spool[512]; /* "": what is not stored yet ends with the process */
	int64_t spool_disk_mb; /* of files in that directory */
	char state[512]; /* "": what is normal is forgotten when the probe ends */
	/* Of one processor, for the reads of each source, and of all of them together, for its
	 * kernel programs; 0: any. */
	double budget_percent;
	int64_t budget_look_s; /* over so long what they cost is summed up; 0: 20 */
	char programs[256]; /* a directory of kernel programs of the operator's own; "": none */
	char on_demand[256]; /* sources that are measured only if they are named (on_demand.h) */
	double slow_ms; /* fixed limit for every route; < 0: each route's own */
	bool query_string; /* let query strings leave the node */
	int64_t rows_per_s; /* more abnormal requests than this are counted, not sent */
	char scope[512]; /* "": every task; cgroup=PATH: those in and below that cgroup2 */
	int64_t ring_mb; /* of the kernel's event ring; a power of two */
	char hooks[16]; /* "auto", or one of request_hooks_name */
	char nginx[8]; /* read nginx's own records: "auto", "on", "off" */
	int64_t conns; /* connections followed at a time */
	bool split; /* tell where the time of a request went */
	double slow_file_ms; /* an operation on a file is told if it takes as long */
	char slow_file_clock[8]; /* what is looked by: "auto", "tick", "timer" */
	int64_t slow_files_per_s; /* more of them than this are counted, not told */
	int64_t slow_files_per_min; /* likewise, on the average of ten minutes (allowance.h) */
	int64_t profile; /* looks at each CPU in a second; 0: none */
	double stuck_s; /* a task that sleeps uninterruptibly as long is told; 0: none is */
	int64_t cpu_wait_share; /* waits for a CPU are timed, in percent of when there are; 0: never
				 */
	/* share of the time in which something waits for it, to be told at the least; 0: never */
	int64_t cpu_stall_pct, io_stall_pct, memory_stall_pct;
};

#define PROBE_VERSION "0.2.0"

enum probe_task { PROBE_RUN, PROBE_CHECK, PROBE_DOCTOR, PROBE_HELP, PROBE_TELL_VERSION };

/*
 * The defaults, then the file of --config, then the other flags. -EINVAL or -errno with a sentence
 * in err; --help and --version end the reading.
 */
int probe_config_read(int argc, char *const argv[], struct probe_config *c, enum probe_task *task,
		      char *err, size_t errlen) MUST_CHECK;
void probe_config_help(void); /* to stdout */

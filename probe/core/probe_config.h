// SPDX-License-Identifier: Apache-2.0
/* collector_config.h - the options of seismo-probe, set by file and by flag. deploy/conf/probe.conf
 * is the sample.
 */
#pragma once

#include "lib/base/base.h"
#include "lib/config/config_args.h"

struct probe_config {
	char node[64]; /* default: the host name */
	char collector[1024]; /* tcp://host:port, or several, separated by commas */
	char collector_key[1024]; /* public keys of the collectors, or files of keys */
	char keys[256]; /* directory of this node's key pair */
	char token[512]; /* file with an enrollment token; "": none */
	int64_t spool_mb; /* memory for batches until they are acknowledged */
	char spool[512]; /* directory; "": unsent batches are lost at exit */
	int64_t spool_disk_mb; /* limit of that directory */
	char state[512]; /* file of the baselines; "": they are lost at exit */
	/* For the reads of each source: percent of one CPU; for its kernel programs: percent of all
	 * CPUs; 0: no limit. */
	double budget_percent;
	int64_t budget_look_s; /* period over which these costs are summed; 0: 20 */
	char programs[256]; /* directory of custom kernel programs; "": none */
	char on_demand[256]; /* expensive sources to enable (on_demand.h) */
	double slow_ms; /* limit for every route; < 0: learned for each route */
	bool query_string; /* send query strings */
	int64_t rows_per_s; /* limit of abnormal requests sent; the rest are only counted */
	char scope[512]; /* "": every task; cgroup=PATH: those in and below that cgroup2 */
	int64_t ring_mb; /* of the kernel's event ring; a power of two */
	char hooks[16]; /* "auto", or a name of request_kernel.c's hooks */
	char nginx[8]; /* read nginx's own records: "auto", "on", "off" */
	int64_t conns; /* limit of connections followed at the same time */
	bool split; /* break down the time of requests */
	double slow_file_ms; /* duration from which a file operation is reported; 0: never */
	char slow_file_clock[8]; /* "auto", "tick", "timer" */
	int64_t slow_files_per_s; /* limit of these reports; the rest are only counted */
	int64_t slow_files_per_min; /* likewise, as an average of ten minutes */
	int64_t profile; /* stack samples on each CPU in a second; 0: none */
	double stuck_s; /* uninterruptible sleep from which a task is reported; 0: never */
	int64_t cpu_wait_share; /* percent of the time in which CPU waits are timed; 0: never */
	/* least share of time with waiting tasks to report; 0: never */
	int64_t cpu_stall_pct, io_stall_pct, memory_stall_pct;
	const char *help; /* PROBE_HELP: the format of the help */
};

#define PROBE_VERSION "0.2.0"

enum probe_task { PROBE_RUN, PROBE_CHECK, PROBE_DOCTOR, PROBE_HELP, PROBE_PRINT_VERSION };

extern const struct config_program probe_program;

/*
 * Sets the defaults, then reads the file of --config, then the other flags. -EINVAL or -errno with
 * a sentence in err; --help and --version end the reading.
 */
int probe_config_read(int argc, char *const argv[], struct probe_config *c, enum probe_task *task,
		      char *err, size_t errlen) MUST_CHECK;

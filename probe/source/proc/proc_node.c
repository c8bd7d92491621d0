// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/src_proc.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { KIB = 1024 };

static const struct proc_key stat_keys[] = {
	{ "intr", NODE_INTERRUPTS },
	{ "ctxt", NODE_CONTEXT_SWITCHES },
	{ "btime", NODE_BOOT_TIME },
	{ "processes", NODE_FORKS },
	{ "procs_running", NODE_PROCS_RUNNING },
	{ "procs_blocked", NODE_PROCS_BLOCKED },
};

static const struct proc_key memory_keys[] = {
	{ "MemTotal", NODE_MEM_TOTAL },
	{ "MemFree", NODE_MEM_FREE },
	{ "MemAvailable", NODE_MEM_AVAILABLE },
	{ "Buffers", NODE_MEM_BUFFERS },
	{ "Cached", NODE_MEM_CACHED },
	{ "AnonPages", NODE_MEM_ANON },
	{ "Mapped", NODE_MEM_MAPPED },
	{ "Shmem", NODE_MEM_SHMEM },
	{ "Slab", NODE_MEM_SLAB },
	{ "SReclaimable", NODE_MEM_SRECLAIMABLE },
	{ "PageTables", NODE_MEM_PAGE_TABLES },
	{ "Committed_AS", NODE_MEM_COMMITTED },
	{ "Dirty", NODE_MEM_DIRTY },
	{ "Writeback", NODE_MEM_WRITEBACK },
	{ "SwapTotal", NODE_SWAP_TOTAL },
	{ "SwapFree", NODE_SWAP_FREE },
};

static const struct proc_key vmstat_keys[] = {
	{ "oom_kill", NODE_OOM_KILL },
	{ "pgfault", NODE_PGFAULT },
	{ "pgmajfault", NODE_PGMAJFAULT },
	{ "pgpgin", NODE_PGPGIN },
	{ "pgpgout", NODE_PGPGOUT },
	{ "pswpin", NODE_PSWPIN },
	{ "pswpout", NODE_PSWPOUT },
	{ "pgscan_direct", NODE_PGSCAN_DIRECT },
	{ "compact_stall", NODE_COMPACT_STALL },
	{ "workingset_refault_file", NODE_REFAULTS },
};

static const struct proc_key tcp_keys[] = {
	{ "CurrEstab", NODE_TCP_ESTABLISHED },
	{ "ActiveOpens", NODE_TCP_ACTIVE_OPENS },
	{ "PassiveOpens", NODE_TCP_PASSIVE_OPENS },
	{ "AttemptFails", NODE_TCP_ATTEMPT_FAILS },
	{ "EstabResets", NODE_TCP_RESETS },
	{ "InSegs", NODE_TCP_IN_SEGS },
	{ "OutSegs", NODE_TCP_OUT_SEGS },
	{ "RetransSegs", NODE_TCP_RETRANS },
	{ "InErrs", NODE_TCP_IN_ERRS },
	{ "OutRsts", NODE_TCP_OUT_RSTS },
};

static const struct proc_key udp_keys[] = {
	{ "InErrors", NODE_UDP_IN_ERRORS },
	{ "RcvbufErrors", NODE_UDP_RCVBUF_ERRORS },
};

static const struct proc_key tcpext_keys[] = {
	{ "TCPSynRetrans", NODE_TCP_SYN_RETRANS },
	{ "TCPTimeouts", NODE_TCP_TIMEOUTS },
	{ "ListenOverflows", NODE_LISTEN_OVERFLOWS },
	{ "ListenDrops", NODE_LISTEN_DROPS },
};

static void read_keyed(struct proc *p, const char *name, const struct proc_key *keys, size_t n,
		       double unit, double *raw)
{
	struct words file;

	if (proc_read(&p->text, p->procfs, name, &file) == 0)
		proc_keyed(file, keys, n, unit, raw);
}

/* The line "cpu" is the sum; the lines "cpu0", "cpu1", ... are counted. */
static void read_cpus(struct words file, double *raw)
{
	const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	struct words line, word;
	int cpus = 0;

	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &word) || word.end - word.p < 3 ||
		    memcmp(word.p, "cpu", 3) != 0)
			continue;
		if (word.end - word.p > 3) {
			cpus += isdigit((unsigned char)word.p[3]) != 0;
			continue;
		}
		for (int i = NODE_CPU_USER; i <= NODE_CPU_STEAL; i++)
			raw[i] = proc_number(&line) * tick;
	}
	if (cpus)
		raw[NODE_CPUS] = cpus;
}

static int read_stat(struct proc *p, double *raw)
{
	struct words file;
	int r = proc_read(&p->text, p->procfs, "stat", &file);

	if (r < 0)
		return r;
	read_cpus(file, raw);
	proc_keyed(file, stat_keys, ARRAY_SIZE(stat_keys), 1, raw);
	if (isnan(raw[NODE_CONTEXT_SWITCHES]))
		raw[NODE_CPUS] = NAN; /* the file may be truncated */
	return 0;
}

/* Reads a file that is one line of numbers. */
static void read_row(struct proc *p, const char *name, const int *at, size_t n, double *raw)
{
	struct words file, line;

	if (proc_read(&p->text, p->procfs, name, &file) < 0 || !proc_line(&file, &line))
		return;
	for (size_t i = 0; i < n; i++) {
		double v = proc_number(&line);

		if (at[i] >= 0)
			raw[at[i]] = v;
	}
}

/* Without the file, pressure is unavailable. */
static void read_pressure(struct proc *p, const char *name, int some, int full, double *raw)
{
	struct words file;

	if (proc_read(&p->text, p->procfs, name, &file) == 0)
		proc_pressure(file, some, full, raw);
}

/* Two lines, "Tcp: NAME NAME ..." and "Tcp: 1 2 ...". */
static void take_pair(struct words names, struct words values, const char *group,
		      const struct proc_key *keys, size_t n, double *raw)
{
	struct words word, value;
	int at;

	if (!proc_word(&names, &word) || !proc_is(&word, group) || !proc_word(&values, &value) ||
	    !proc_is(&value, group))
		return;
	while (proc_word(&names, &word)) {
		double v = proc_number(&values);

		at = proc_find(keys, n, &word);
		if (at >= 0)
			raw[at] = v;
	}
}

static void read_netstat(struct proc *p, const char *name, double *raw)
{
	struct words file, names, values;

	if (proc_read(&p->text, p->procfs, name, &file) < 0)
		return;
	while (proc_line(&file, &names) && proc_line(&file, &values)) {
		take_pair(names, values, "Tcp", tcp_keys, ARRAY_SIZE(tcp_keys), raw);
		take_pair(names, values, "Udp", udp_keys, ARRAY_SIZE(udp_keys), raw);
		take_pair(names, values, "TcpExt", tcpext_keys, ARRAY_SIZE(tcpext_keys), raw);
	}
}

int proc_node_read(struct proc *p, double raw[static NODE_END])
{
	static const int load[] = { NODE_LOAD1, NODE_LOAD5, NODE_LOAD15 };
	static const int files[] = { NODE_FILES_ALLOCATED, -1, NODE_FILES_MAXIMUM };
	static const int dentries[] = { NODE_DENTRIES, NODE_DENTRIES_UNUSED };

	read_row(p, "loadavg", load, ARRAY_SIZE(load), raw);
	read_row(p, "sys/fs/file-nr", files, ARRAY_SIZE(files), raw);
	read_row(p, "sys/fs/dentry-state", dentries, ARRAY_SIZE(dentries), raw);
	read_keyed(p, "meminfo", memory_keys, ARRAY_SIZE(memory_keys), KIB, raw);
	read_keyed(p, "vmstat", vmstat_keys, ARRAY_SIZE(vmstat_keys), 1, raw);
	read_pressure(p, "pressure/cpu", NODE_PSI_CPU_SOME, NODE_PSI_CPU_FULL, raw);
	read_pressure(p, "pressure/memory", NODE_PSI_MEM_SOME, NODE_PSI_MEM_FULL, raw);
	read_pressure(p, "pressure/io", NODE_PSI_IO_SOME, NODE_PSI_IO_FULL, raw);
	read_netstat(p, "net/snmp", raw);
	read_netstat(p, "net/netstat", raw);
	proc_soft_read(p, raw);
	return read_stat(p, raw);
}

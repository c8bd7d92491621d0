// SPDX-License-Identifier: Apache-2.0
/* proc_soft.c - soft interrupts: counts by kind, and what the network queues processed, dropped or
 * deferred. */
#include <ctype.h>
#include <math.h>

#include "probe/source/proc/src_proc.h"

enum { SOFTNET_PROCESSED, SOFTNET_DROPPED, SOFTNET_SQUEEZED, SOFTNET_COLUMNS };

static const struct proc_key softirq_keys[] = {
	{ "HI", NODE_SOFTIRQ_HI },	     { "TIMER", NODE_SOFTIRQ_TIMER },
	{ "NET_TX", NODE_SOFTIRQ_NET_TX },   { "NET_RX", NODE_SOFTIRQ_NET_RX },
	{ "BLOCK", NODE_SOFTIRQ_BLOCK },     { "IRQ_POLL", NODE_SOFTIRQ_IRQ_POLL },
	{ "TASKLET", NODE_SOFTIRQ_TASKLET }, { "SCHED", NODE_SOFTIRQ_SCHED },
	{ "HRTIMER", NODE_SOFTIRQ_HRTIMER }, { "RCU", NODE_SOFTIRQ_RCU },
};

/* "NET_RX:  12  34": one column per CPU. */
static void read_softirqs(struct proc *p, double *raw)
{
	struct words file, line, word;

	if (proc_read(&p->text, p->procfs, "softirqs", &file) < 0)
		return;
	while (proc_line(&file, &line)) {
		int at = proc_word(&line, &word)
				 ? proc_find(softirq_keys, ARRAY_SIZE(softirq_keys), &word)
				 : -1;
		double sum = NAN;

		for (double v; at >= 0 && !isnan(v = proc_number(&line));)
			sum = isnan(sum) ? v : sum + v;
		if (at >= 0)
			raw[at] = sum;
	}
}

/* A hexadecimal number of up to 16 digits; NaN: not a number. */
static double parse_hex(struct words *line)
{
	struct words w;
	uint64_t v = 0;

	if (!proc_word(line, &w) || w.end - w.p > 16)
		return NAN;
	for (; w.p < w.end; w.p++) {
		int c = tolower((unsigned char)*w.p);

		if (!isxdigit(c))
			return NAN;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return (double)v;
}

/* One line per CPU with 32-bit numbers, so that the sum decreases at times. */
static void read_softnet(struct proc *p, double *raw)
{
	static const int at[SOFTNET_COLUMNS] = { NODE_SOFTNET_PROCESSED, NODE_SOFTNET_DROPPED,
						 NODE_SOFTNET_SQUEEZED };
	double sum[SOFTNET_COLUMNS] = { 0 };
	uint32_t lines = 0, before = p->softnet_lines;
	struct words file, line;

	if (proc_read(&p->text, p->procfs, "net/softnet_stat", &file) < 0 || file.p == file.end)
		return;
	for (; proc_line(&file, &line); lines++)
		for (int i = 0; i < SOFTNET_COLUMNS; i++)
			sum[i] += parse_hex(&line);
	p->softnet_lines = lines;
	for (int i = 0; i < SOFTNET_COLUMNS; i++)
		raw[at[i]] = !before || lines == before ? sum[i]
							: NAN; /* NaN: the set of CPUs changed */
}

void proc_soft_read(struct proc *p, double raw[static NODE_END])
{
	read_softirqs(p, raw);
	read_softnet(p, raw);
}

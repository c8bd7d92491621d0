// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ksym.bpf.c - resolves kernel addresses to names with the kernel's own table: the probe writes the
 * addresses into a map and runs this program. It takes some microseconds per address; reading
 * /proc/kallsyms takes tens of milliseconds.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

#include "bpf/symbol/ksym_record.h"

struct ksym_batch batch;

SEC("syscall")
int name_batch(void *ctx)
{
	static const char format[] = "%pS";

	(void)ctx;
	for (__u32 i = 0; i < KSYM_BATCH; i++) {
		if (i >= batch.n)
			break;
		bpf_snprintf(batch.text[i], KSYM_BATCH_TEXT, format, &batch.addr[i],
			     sizeof(batch.addr[i]));
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

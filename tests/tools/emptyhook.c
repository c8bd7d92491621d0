// SPDX-License-Identifier: Apache-2.0
/*
 * emptyhook.c - an empty program at each switch of the scheduler, until its input ends: what any
 * hook there costs at least. Prints nanoseconds of each run by the kernel's figures: these are the
 * figures' own (kernel.bpf_stats_enabled).
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int load(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "empty", "GPL", nothing, 2, NULL);
}

int main(void)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int prog = load(), link = prog < 0 ? prog : bpf_raw_tracepoint_open("sched_switch", prog);
	char byte;

	if (link < 0) {
		fprintf(stderr, "emptyhook: needs root\n");
		return EXIT_FAILURE;
	}
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (bpf_obj_get_info_by_fd(prog, &info, &len) < 0 || !info.run_cnt)
		return EXIT_FAILURE;
	printf("%llu\n", (unsigned long long)(info.run_time_ns / info.run_cnt));
	return EXIT_SUCCESS;
}

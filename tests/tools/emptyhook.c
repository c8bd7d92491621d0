// SPDX-License-Identifier: Apache-2.0
/*
 * emptyhook.c - an empty program at each switch of the scheduler, until its input ends: what any
 * hook there costs at least. Prints nanoseconds of each run by the kernel's figures: these are the
 * figures' own (kernel.bpf_stats_enabled). With names of tracepoints: one at each of those instead;
 * says "ready" when they are there, and no figures.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The program; it is attached until this process ends. */
static int hook(const char *tracepoint)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = id > 0 ? (__u32)id : 0);
	int prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", nothing, 2, &opts);

	if (prog < 0 || bpf_raw_tracepoint_open(NULL, prog) < 0) {
		perror("emptyhook: needs root, and a kernel with BTF and this tracepoint");
		exit(EXIT_FAILURE);
	}
	return prog;
}

static void until_end_of_input(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

int main(int argc, char *argv[])
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	int prog;

	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			hook(argv[i]);
		puts("ready");
		fflush(stdout);
		until_end_of_input();
		return EXIT_SUCCESS;
	}
	prog = hook("sched_switch");
	until_end_of_input();
	if (bpf_obj_get_info_by_fd(prog, &info, &len) < 0 || !info.run_cnt)
		return EXIT_FAILURE;
	printf("%llu\n", (unsigned long long)(info.run_time_ns / info.run_cnt));
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/bpf_stats_bias.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/prctl.h>

#include "lib/base/clock.h"

enum { TIMES = 500, ROUNDS = 5, COMM = 16 };

/* ns per call of a prctl that passes task_rename and changes nothing: the lowest of some rounds. */
static uint64_t call_ns(void)
{
	uint64_t least = UINT64_MAX;
	char comm[COMM];

	prctl(PR_GET_NAME, comm, 0, 0, 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = clock_mono_ns(), ns;

		for (int i = 0; i < TIMES; i++)
			prctl(PR_SET_NAME, comm, 0, 0, 0);
		ns = (clock_mono_ns() - begin) / TIMES;
		least = ns < least ? ns : least;
	}
	return least;
}

static int load_empty_program(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL", nothing,
			     ARRAY_SIZE(nothing), NULL);
}

/* ns per run of the attached program, by the kernel's count. */
static uint64_t counted_ns(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	AUTO_CLOSE int counts = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (counts < 0)
		return 0;
	(void)call_ns();
	if (bpf_obj_get_info_by_fd(program, &info, &len) < 0 || !info.run_cnt)
		return 0;
	return info.run_time_ns / info.run_cnt;
}

int64_t bpf_stats_bias_ns(void)
{
	AUTO_CLOSE int program = load_empty_program(), link = -1;
	uint64_t without, with, counted;

	if (program < 0)
		return 0;
	without = call_ns();
	link = bpf_raw_tracepoint_open("task_rename", program);
	if (link < 0)
		return 0;
	with = call_ns();
	counted = counted_ns(program);
	return with > without && counted ? (int64_t)(with - without) - (int64_t)counted : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oncpu.bpf.c - the CPU profiler: at each tick of a timer, both stacks of the interrupted thread,
 * except in the idle task. It does not count: user space groups equal stacks.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lib/bound.h"
#include "bpf/sched/oncpu.h"
#include "bpf/lib/sample.h"

enum { PF_KTHREAD = 0x200000 };

/* Set before the load. */
const volatile __u64 scope_id = 0;
const volatile __u32 scope_level = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 128 * 1024);
} ring SEC(".maps");

__u64 ring_full = 0; /* samples dropped: ring full */

/*
 * Too large for the stack; built here so that the ring record takes no more room than its frames.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct oncpu_sample);
} scratch SEC(".maps");

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct oncpu_sample *s;
	__u32 zero = 0;
	long kernel, user;
	__u64 bytes, of;

	if (!t->pid)
		return 0;
	if (scope_id && bpf_get_current_ancestor_cgroup_id(scope_level) != scope_id)
		return 0;
	of = sampled();
	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!of || !s)
		return 0;
	s->tgid = (__u32)t->tgid;
	s->of_kernel = (t->flags & PF_KTHREAD) != 0;
	s->of = (__u32)of;
	BPF_CORE_READ_STR_INTO(&s->comm, t, group_leader, comm);
	kernel = bpf_get_stack(ctx, s->kernel, sizeof(s->kernel), 0);
	s->nkernel = kernel > 0 ? (__u32)kernel / sizeof(s->kernel[0]) : 0;
	user = s->of_kernel ? 0
			    : bpf_get_stack(ctx, s->user, sizeof(s->user),
					    BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	s->nuser = user > 0 ? (__u32)user / sizeof(s->user[0]) : 0;
	bytes = user > 0 ? (__u64)user : 0;
	bytes = at_most(bytes, sizeof(s->user));
	if (bpf_ringbuf_output(&ring, s, __builtin_offsetof(struct oncpu_sample, user) + bytes,
			       BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&ring_full, of);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

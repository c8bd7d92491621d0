// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oom.bpf.c - records each process that the kernel kills for lack of memory, at its selection,
 * while it still holds all its memory. Before 6.10 the tracepoint only has its pid.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/cgroup.h"
#include "bpf/memory/oom.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, OOM_RING);
} ring SEC(".maps");

const volatile __u32 victim_args = 2; /* arguments of the tracepoint; 1: only a pid */
__u64 lost; /* victims dropped: no room */

enum { FILES = 0, ANONYMOUS = 1, SHARED = 3 };

static __always_inline __u64 pages_of(struct mm_struct *mm, int i)
{
	struct mm_struct___old *old = (struct mm_struct___old *)mm;
	__s64 n = 0;

	/*
	 * Not a test for the type's existence: for a missing type libbpf reads modules' types, as
	 * root only.
	 */
	if (bpf_core_field_exists(old->rss_stat.count))
		bpf_probe_read_kernel(&n, sizeof(n), &old->rss_stat.count[i]);
	else
		n = BPF_CORE_READ(mm, rss_stat[i].count);
	return n > 0 ? (__u64)n : 0;
}

static __always_inline void put_victim(struct oom_victim *v, struct task_struct *t)
{
	struct mm_struct *mm = BPF_CORE_READ(t, mm);
	struct cgroup *g = memory_cgroup_of(t);

	v->pid = (__u32)BPF_CORE_READ(t, tgid);
	v->cgroup = g ? id_of_cgroup(g) : 0;
	bpf_probe_read_kernel_str(v->comm, sizeof(v->comm), &t->comm);
	if (!mm)
		return;
	v->total_pages = BPF_CORE_READ(mm, total_vm);
	v->rss_pages = pages_of(mm, FILES) + pages_of(mm, ANONYMOUS) + pages_of(mm, SHARED);
}

SEC("raw_tp/mark_victim")
int on_victim(struct bpf_raw_tracepoint_args *ctx)
{
	struct oom_victim *v = bpf_ringbuf_reserve(&ring, sizeof(*v), 0);
	long n;

	if (!v) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	__builtin_memset(v, 0, sizeof(*v));
	v->at_ns = bpf_ktime_get_ns();
	v->by_pid = (__u32)(bpf_get_current_pid_tgid() >> 32);
	bpf_get_current_comm(v->by_comm, sizeof(v->by_comm));
	if (victim_args == 1)
		v->pid = (__u32)ctx->args[0];
	else
		put_victim(v, (struct task_struct *)ctx->args[0]);
	n = bpf_get_stack(ctx, v->frame, sizeof(v->frame), 0);
	v->n = n > 0 ? (__u32)n / sizeof(v->frame[0]) : 0;
	bpf_ringbuf_submit(v, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

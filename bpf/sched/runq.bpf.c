// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * runq.bpf.c - time that runnable tasks waited for a CPU, by cgroup, from the kernel's own counters
 * of each task: when a task leaves its CPU, the increase of its sum since it last left is the wait
 * before it got the CPU. One hook, none on wakeups; it is attached only while tasks wait.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/bound.h"
#include "bpf/sched/runq.h"
#include "bpf/lib/slot.h"

#define CGROUP_ENTRY struct runq_cgroup
#define CGROUP_ENTRIES RUNQ_CGROUPS
#include "bpf/lib/cgroup_add.h"

__u64 missed; /* waits not counted for lack of room */
bool not_counted; /* without CONFIG_SCHED_INFO: no counters */

/* State when the task last left a CPU. Finding a cgroup's id costs more than all the rest. */
struct task {
	struct sched_info counted;
	const void *set; /* the task's css_set */
	__u64 cgroup; /* cgroup id of that set */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} seen SEC(".maps");

static __always_inline void add_wait(struct task_struct *t, __u64 id, __u64 ns)
{
	struct runq_cgroup *c = bpf_map_lookup_elem(&cgroups, &id);
	__u64 slot;

	if (!c)
		c = cgroup_add(t, id);
	if (!c) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	slot = slot_of(ns, RUNQ_FIRST, RUNQ_SLOTS);
	slot = at_most(slot, RUNQ_SLOTS - 1);
	__sync_fetch_and_add(&c->v[slot], 1);
	__sync_fetch_and_add(&c->v[RUNQ_SLOTS], ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	struct sched_info now;
	struct task *last;
	__u64 ns, times;

	if (!prev->pid)
		return 0;
	if (!bpf_core_field_exists(prev->sched_info.run_delay)) {
		not_counted = true;
		return 0;
	}
	last = bpf_task_storage_get(&seen, prev, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!last) {
		__sync_fetch_and_add(&missed, 1);
		return 0;
	}
	now.pcount = prev->sched_info.pcount;
	now.run_delay = prev->sched_info.run_delay;
	times = now.pcount - last->counted.pcount;
	ns = now.run_delay - last->counted.run_delay;
	last->counted = now;
	if (last->set != prev->cgroups) {
		last->set = prev->cgroups;
		last->cgroup = id_of_cgroup(cgroup_of(prev));
	}
	if (times == 1) /* else switches were missed: the single waits are unknown */
		add_wait(prev, last->cgroup, ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

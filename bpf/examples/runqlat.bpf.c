// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * runqlat.bpf.c - how long runnable tasks waited for a processor, by cgroup. It is self-contained,
 * like a program of your own; runqlat.conf beside it declares the metrics.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum { SLOTS = 20, FIRST = 0 }; /* up to 1 us, 2, 4, ... 262,144 us, more */

/* The kernel types that are read; CO-RE finds their offsets in the running kernel at load time. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	unsigned int __state; /* since 5.14 */
	int pid;
	struct css_set *cgroups;
};
#pragma clang attribute pop

struct waits {
	__u64 us[SLOTS]; /* waits by duration */
	__u64 sum_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* cgroup id: the inode of its directory */
	__type(value, struct waits);
} waits SEC(".maps");

/* Since when a task is runnable. Freed with the task. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} since SEC(".maps");

const struct waits none = {};
__u64 missed; /* waits not counted for lack of room */

static __always_inline void wait_begin(struct task_struct *t)
{
	__u64 *at;

	if (!t->pid) /* the idle task never waits */
		return;
	at = bpf_task_storage_get(&since, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (at)
		*at = bpf_ktime_get_ns();
	else
		__sync_fetch_and_add(&missed, 1);
}

static __always_inline __u32 slot_of(__u64 us)
{
	__u32 slot = 0;

	while (slot < SLOTS - 1 && us > 1ull << (FIRST + slot))
		slot++;
	return slot;
}

static __always_inline void end(struct task_struct *t)
{
	__u64 *at = bpf_task_storage_get(&since, t, 0, 0), ns, cgroup;
	struct waits *w;
	__u32 slot;

	if (!at || !*at)
		return;
	ns = bpf_ktime_get_ns() - *at;
	*at = 0;
	cgroup = t->cgroups->dfl_cgrp->kn->id;
	w = bpf_map_lookup_elem(&waits, &cgroup);
	if (!w) {
		bpf_map_update_elem(&waits, &cgroup, &none, BPF_NOEXIST);
		w = bpf_map_lookup_elem(&waits, &cgroup);
	}
	if (!w) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	slot = slot_of(ns / 1000);
	if (slot < SLOTS) /* for the verifier */
		__sync_fetch_and_add(&w->us[slot], 1);
	__sync_fetch_and_add(&w->sum_ns, ns);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *t)
{
	wait_begin(t);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *t)
{
	wait_begin(t);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	if (preempted || prev->__state == 0) /* still runnable: it waits from now on */
		wait_begin(prev);
	end(next);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

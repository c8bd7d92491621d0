// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * locks.bpf.c - waits for kernel locks, by kind of lock and by the function that takes it. An
 * uncontended lock passes no hook; a wait passes two and costs a stack walk, so this source is on
 * demand only.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/bound.h"
#include "bpf/sched/locks.h"
#include "bpf/lib/sample.h"
#include "bpf/lib/slot.h"

enum { WAITING = 4096, FRAMES = 14 };

/*
 * Code between the hook and the function that takes the lock. The first range is that of sleeping
 * waits and does not apply to spinning.
 */
const volatile struct locks_range waits[LOCKS_RANGES];

__u64 missed; /* waits not counted for lack of room */

struct wait {
	__u64 lock; /* 0: no wait */
	__u64 begin_ns;
	__u64 of; /* sampling weight; 0: not sampled */
	struct locks_key key;
};

/* Spinning waits: the thread stays on its CPU. An interrupt that spins in between is not seen. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait);
} spins SEC(".maps");

/* Sleeping waits, by tid. Preallocated: nothing may allocate memory here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAITING);
	__type(key, __u32);
	__type(value, struct wait);
} sleeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOCKS_ENTRIES + 1);
	__type(key, struct locks_key);
	__type(value, struct locks_entry);
} entries SEC(".maps");

static __always_inline bool is_waiting(__u64 ip, int first)
{
	for (int i = first; i < LOCKS_RANGES; i++)
		if (ip >= waits[i].from && ip < waits[i].to)
			return true;
	return false;
}

/* The first caller above the waiting functions, which are on top of the stack; 0: not found. */
static __always_inline __u64 caller_of(void *ctx, int first)
{
	__u64 ip[FRAMES] = {};
	bool inside = false;

	if (bpf_get_stack(ctx, ip, sizeof(ip), 0) <= 0)
		return 0;
	for (int i = 0; i < FRAMES; i++) {
		bool waits_there = is_waiting(ip[i], first);

		if (inside && !waits_there)
			return ip[i];
		inside |= waits_there;
	}
	return 0;
}

static __always_inline void begin_wait(void *ctx, struct wait *w, __u64 lock, __u32 flags,
				       int first)
{
	w->lock = lock;
	if (!w->of)
		return;
	w->key.kind = flags;
	w->key.caller = caller_of(ctx, first);
	w->begin_ns = bpf_ktime_get_ns();
}

static __always_inline bool is_spin(__u32 flags)
{
	return (flags & (LOCK_SPIN | LOCK_MUTEX)) == LOCK_SPIN;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_begin, void *lock, unsigned int flags)
{
	__u32 zero = 0, pid = (__u32)bpf_get_current_pid_tgid();
	struct wait *w, new = { .of = sampled() };

	/* A mutex wait passes twice; the first sampling decision holds. */
	if (!new.of && !(flags & LOCK_MUTEX))
		return 0;
	if (is_spin(flags)) {
		w = bpf_map_lookup_elem(&spins, &zero);
		if (w && !w->lock) {
			w->of = new.of;
			begin_wait(ctx, w, (__u64)lock, flags, 1);
		}
		return 0;
	}
	w = bpf_map_lookup_elem(&sleeps, &pid);
	if (w) /* it spun for its mutex and sleeps now */
		return 0;
	begin_wait(ctx, &new, (__u64)lock, flags & ~LOCK_SPIN, 0);
	if (bpf_map_update_elem(&sleeps, &pid, &new, BPF_NOEXIST))
		__sync_fetch_and_add(&missed, new.of);
	return 0;
}

static __noinline struct locks_entry *entry_of(struct locks_key *key)
{
	static const struct locks_entry none = {};
	struct locks_entry *e = bpf_map_lookup_elem(&entries, key);

	if (e)
		return e;
	bpf_map_update_elem(&entries, key, &none, BPF_NOEXIST);
	e = bpf_map_lookup_elem(&entries, key);
	if (e)
		return e;
	key->caller = 0;
	key->kind = LOCKS_OTHERS;
	return bpf_map_lookup_elem(&entries, key);
}

static __always_inline void add_wait(const struct wait *w)
{
	struct locks_key key = w->key;
	__u64 ns = bpf_ktime_get_ns() - w->begin_ns, slot;
	struct locks_entry *e;

	if (!w->of)
		return;
	e = entry_of(&key);
	if (!e) {
		__sync_fetch_and_add(&missed, w->of);
		return;
	}
	slot = slot_of(ns, LOCKS_FIRST, LOCKS_SLOTS);
	slot = at_most(slot, LOCKS_SLOTS - 1);
	__sync_fetch_and_add(&e->v[LOCKS_COUNT], w->of);
	__sync_fetch_and_add(&e->v[LOCKS_NS], ns * w->of);
	__sync_fetch_and_add(&e->v[LOCKS_LATENCY + slot], w->of);
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_end, void *lock)
{
	__u32 zero = 0, pid = (__u32)bpf_get_current_pid_tgid();
	struct wait *w = bpf_map_lookup_elem(&spins, &zero);

	if (w && w->lock == (__u64)lock) {
		add_wait(w);
		w->lock = 0;
		return 0;
	}
	w = bpf_map_lookup_elem(&sleeps, &pid);
	if (!w || w->lock != (__u64)lock)
		return 0;
	add_wait(w);
	bpf_map_delete_elem(&sleeps, &pid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

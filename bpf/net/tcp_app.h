/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tcp_app.h - finds the application of a task and the entry with the sums of its connections. */
#pragma once

#include "bpf/lib/bound.h"
#include "bpf/lib/cgroup.h"
#include "bpf/net/tcp.h"

enum { PF_KTHREAD = 0x200000, LEVELS = 24, UNIT_END = 8 };

#define OF_V1 (1ull << 63) /* a version 1 id, which may equal another cgroup's version 2 id */

const volatile __u64 scope_id = 0; /* id of the cgroup2 whose tasks are watched; 0: all tasks */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TCP_APPS + 1);
	__type(key, struct tcp_app_key);
	__type(value, struct tcp_app);
} apps SEC(".maps");

/* Initial value of a new entry: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tcp_app);
} nothing SEC(".maps");

static __always_inline bool in_scope(struct task_struct *t)
{
	struct kernfs_node *n;

	if (!scope_id)
		return true;
	n = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn);
	for (int i = 0; i < LEVELS && n; i++) {
		if (BPF_CORE_READ(n, id) == scope_id)
			return true;
		n = parent_of(n);
	}
	return false;
}

static __always_inline bool begins(const char *s, const char *with, int len)
{
	for (int i = 0; i < len; i++)
		if (s[i] != with[i])
			return false;
	return true;
}

/* The innermost cgroup that is a service, by the same rule as probe/procfs/app.c. */
static __noinline void name_unit(struct tcp_app *app, struct kernfs_node *n)
{
	for (int i = 0; i < LEVELS && n; i++) {
		long got = bpf_probe_read_kernel_str(app->unit, TCP_UNIT, BPF_CORE_READ(n, name));
		__u64 at = at_most((__u64)got - UNIT_END - 1, TCP_UNIT - UNIT_END - 1);

		if (got > UNIT_END + 1 && begins(app->unit + at, ".service", UNIT_END)) {
			if (begins(app->unit, "user@", 5))
				break;
			return;
		}
		n = parent_of(n);
	}
	app->unit[0] = 0;
}

static __always_inline struct tcp_app *new_app(const struct tcp_app_key *key, struct task_struct *t)
{
	struct tcp_app *app;
	__u32 zero = 0;
	void *new = bpf_map_lookup_elem(&nothing, &zero);

	if (!new || bpf_map_update_elem(&apps, key, new, BPF_NOEXIST))
		return bpf_map_lookup_elem(&apps, key); /* another CPU has just added it */
	app = bpf_map_lookup_elem(&apps, key);
	if (app) {
		name_unit(app, BPF_CORE_READ(cgroup_of(t), kn));
		app->named = 1;
	}
	return app;
}

static __always_inline void key_of(struct tcp_app_key *key, struct task_struct *t)
{
	struct cgroup *g = cgroup_of(t);

	key->cgroup = id_of_cgroup(g);
	if (g != BPF_CORE_READ(t, cgroups, dfl_cgrp))
		key->cgroup |= OF_V1;
	if (t->flags & PF_KTHREAD)
		__builtin_memcpy(key->name, "(kernel)", 8);
	else
		BPF_CORE_READ_STR_INTO(&key->name, t, group_leader, comm);
}

static __always_inline struct tcp_app *others(struct tcp_app_key *key)
{
	__builtin_memset(key, 0, sizeof(*key));
	__builtin_memcpy(key->name, "(others)", 8);
	return bpf_map_lookup_elem(&apps, key);
}

/* The entry of a task's application, with its key; NULL: the map cannot be changed. */
static __always_inline struct tcp_app *app_of(struct tcp_app_key *key, struct task_struct *t)
{
	struct tcp_app *app;

	key_of(key, t);
	app = bpf_map_lookup_elem(&apps, key);
	if (!app)
		app = new_app(key, t);
	return app ? app : others(key);
}

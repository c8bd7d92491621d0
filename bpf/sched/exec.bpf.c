// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exec.bpf.c - executed programs and ended processes, by program name, and how they ended. The two
 * hooks run rarely: creating a process costs some thousand times as much.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/sched/exec.h"

enum { PF_KTHREAD = 0x200000 };

#define COUNTS STARTS_FIELDS
#include "bpf/lib/counts.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STARTS_PROGRAMS + 1);
	__type(key, struct exec_program);
	__type(value, struct exec);
} programs SEC(".maps");

static __always_inline struct exec *entry(struct task_struct *t)
{
	static const struct exec none = {};
	struct exec_program p = {};
	struct exec *s;

	bpf_probe_read_kernel_str(p.name, sizeof(p.name), t->comm);
	s = bpf_map_lookup_elem(&programs, &p);
	if (s)
		return s;
	bpf_map_update_elem(&programs, &p, &none, BPF_NOEXIST);
	s = bpf_map_lookup_elem(&programs, &p);
	if (s)
		return s;
	__builtin_memset(&p, 0, sizeof(p));
	__builtin_memcpy(p.name, "(others)", 8);
	return bpf_map_lookup_elem(&programs, &p);
}

static __always_inline void add(struct exec *s, enum exec_field what)
{
	count(what);
	if (s)
		__sync_fetch_and_add(&s->v[what], 1);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t)
{
	add(entry(t), START_EXECUTED);
	return 0;
}

/* Once per process: in its first thread, whose exit code is that of wait(). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	struct exec *s;

	if (t->pid != t->tgid || t->flags & PF_KTHREAD)
		return 0;
	s = entry(t);
	add(s, START_ENDED);
	if (t->exit_code & 0x7f)
		add(s, START_KILLED);
	else if (t->exit_code)
		add(s, START_FAILED);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// SPDX-License-Identifier: Apache-2.0
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "probe/overhead/bpf_stats.h"
#include "probe/doctor/doctor.h"
#include "probe/doctor/doctor_line.h"
#include "probe/overhead/bpf_stats_bias.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/sandbox/privilege.h"
#include "probe/request/kernel/request_kernel.h"
#include "probe/sandbox/seccomp.h"
#include "probe/kernel/map_walk.h"

/* How to detect a feature: by a name in the kernel's BTF, or by a trial. */
enum how { BY_TRACEPOINT, BY_FUNCTION, BY_WALK, BY_MAP, BY_HELPER };

static const struct feature {
	const char *name;
	enum how how;
	const char *type; /* in BTF */
	int id; /* of the map type or the helper */
	const char *since;
	const char *hooks; /* the hooks that need it; NULL: all */
} features[] = {
	{ "sock_send_length", BY_TRACEPOINT, "btf_trace_sock_send_length", 0, "6.3", "sockets" },
	{ "sock_recv_length", BY_TRACEPOINT, "btf_trace_sock_recv_length", 0, "6.3", "sockets" },
	{ "sys_exit", BY_TRACEPOINT, "btf_trace_sys_exit", 0, "5.5", "syscalls" },
	{ "inet_sock_set_state", BY_TRACEPOINT, "btf_trace_inet_sock_set_state", 0, "5.5", NULL },
	{ "tcp_destroy_sock", BY_TRACEPOINT, "btf_trace_tcp_destroy_sock", 0, "5.5", NULL },
	{ "block_rq_complete", BY_TRACEPOINT, "btf_trace_block_rq_complete", 0, "5.5", NULL },
	{ "kfree_skb", BY_TRACEPOINT, "btf_trace_kfree_skb", 0, "5.5", NULL },
	{ "sched_switch", BY_TRACEPOINT, "btf_trace_sched_switch", 0, "5.5", NULL },
	{ "get_task_stack", BY_HELPER, NULL, BPF_FUNC_get_task_stack, "5.9", NULL },
	{ "iter/bpf_sk_storage_map", BY_WALK, "bpf_sk_storage_map", 0, "5.9", NULL },
	{ "iter/bpf_map_elem", BY_WALK, "bpf_map_elem", 0, "5.9", "syscalls" },
	{ "bpf_rdonly_cast", BY_FUNCTION, "bpf_rdonly_cast", 0, "6.2", "sockets" },
	{ "sk_storage", BY_MAP, NULL, BPF_MAP_TYPE_SK_STORAGE, "5.2", "sockets" },
	{ "task_storage", BY_MAP, NULL, BPF_MAP_TYPE_TASK_STORAGE, "5.11", NULL },
	{ "ring buffer", BY_MAP, NULL, BPF_MAP_TYPE_RINGBUF, "5.8", NULL },
	{ "task_pt_regs", BY_HELPER, NULL, BPF_FUNC_task_pt_regs, "5.15", NULL },
	{ "ancestor_cgroup_id", BY_HELPER, NULL, BPF_FUNC_get_current_ancestor_cgroup_id, "5.15",
	  NULL },
};

static const char *kind_of(const struct feature *f)
{
	switch (f->how) {
	case BY_TRACEPOINT:
		return "tracepoint";
	case BY_FUNCTION:
		return "kernel function";
	case BY_WALK:
		return "iterator";
	case BY_MAP:
		return "map type";
	case BY_HELPER:
		return "helper";
	}
	return "feature";
}

/* -EOPNOTSUPP: missing or refused, but the probe has a fallback. */
static int walk_result(int may)
{
	if (may == 0)
		return 1;
	return may == -EPERM || may == -ENOENT ? -EOPNOTSUPP : may;
}

/* 1: present, 0: missing, < 0: not known. */
static int check_feature(const struct feature *f, const struct btf *btf)
{
	switch (f->how) {
	case BY_TRACEPOINT:
		return btf ? btf__find_by_name_kind(btf, f->type, BTF_KIND_TYPEDEF) > 0 : -ENODATA;
	case BY_FUNCTION:
		return btf ? btf__find_by_name_kind(btf, f->type, BTF_KIND_FUNC) > 0 : -ENODATA;
	case BY_WALK:
		return privilege_has_bpf() ? walk_result(map_walk_allowed(f->type)) : -EPERM;
	case BY_MAP:
		return privilege_has_bpf()
			       ? libbpf_probe_bpf_map_type((enum bpf_map_type)f->id, NULL)
			       : -EPERM;
	case BY_HELPER:
		return privilege_has_bpf() ? libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT,
								     (enum bpf_func_id)f->id, NULL)
					   : -EPERM;
	}
	return -EINVAL;
}

static void report_feature(const struct feature *f, int found)
{
	const char *kind = kind_of(f);

	if (found > 0)
		doctor_line(true, f->name, "%s, in this kernel", kind);
	else if (found == 0)
		doctor_line(false, f->name, "no such %s in this kernel; needs %s or later%s%s",
			    kind, f->since, f->hooks ? ", for --hooks " : "",
			    f->hooks ? f->hooks : "");
	else if (found == -EOPNOTSUPP)
		doctor_line(true, f->name,
			    "this kernel permits no %s; the probe reads the open files of "
			    "processes or the map itself instead",
			    kind);
	else if (found == -ENODATA)
		doctor_line(false, f->name, "cannot be looked up without BTF");
	else if (found == -EPERM)
		doctor_line(false, f->name,
			    "only root may ask the kernel for this %s; start as root", kind);
	else
		doctor_line(false, f->name, "the kernel does not answer: %s", strerror(-found));
}

static void check_counting(void)
{
	const char *name = "cost of programs";
	int64_t hook_ns = bpf_stats_bias_ns();
	struct bpf_stats *c;
	int r = bpf_stats_open(&c);

	if (r < 0) {
		doctor_line(false, name,
			    "not permitted to measure it (%s): kernel programs have no budget; "
			    "start as root, or with CAP_SYS_ADMIN",
			    strerror(-r));
		return;
	}
	bpf_stats_close(c);
	doctor_line(true, name,
		    "counted by the kernel a twentieth of the time; its hook makes each run %+d ns",
		    (int)hook_ns);
}

void doctor_kernel(void)
{
	const struct btf *btf = NULL;

	doctor_line(
		privilege_has_bpf(), "privileges", "%s",
		privilege_has_bpf()
			? "root, or CAP_BPF and CAP_PERFMON"
			: "needs root (or CAP_BPF and CAP_PERFMON) for requests; start as root");
	doctor_line(seccomp_possible(), "seccomp", "%s",
		    seccomp_possible()
			    ? "a running probe keeps only the system calls that it needs"
			    : "a running probe keeps all system calls, because this kernel has no "
			      "filters for them; boot one with CONFIG_SECCOMP_FILTER=y");
	if (access(KERNEL_BTF, R_OK) == 0)
		btf = kernel_btf();
	doctor_line(btf != NULL, "BTF", "%s",
		    btf ? KERNEL_BTF
			: "this kernel has no BTF; boot one with CONFIG_DEBUG_INFO_BTF=y");
	check_counting();
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		report_feature(&features[i], check_feature(&features[i], btf));
}

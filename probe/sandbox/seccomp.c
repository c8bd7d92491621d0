// SPDX-License-Identifier: Apache-2.0
/*
 * seccomp.c - a compromised probe must not become a way into the host.
 *
 * Calls not named here fail with ENOSYS, as on a kernel that lacks them: a newer libc then falls
 * back to an older call (clone3 to clone, for every thread), which it does not do after EPERM.
 * Calls that only an exploit would make end the process; the kernel log and systemd record it by
 * name.
 */
#include "probe/sandbox/seccomp.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define INT 0xffffffffu /* mask of an int: the upper half of the register is undefined */

/* clang-format off */

/* The calls of several releases of libc and libzmq, on amd64 and arm64. */
static const char *const allowed[] = {
	/* memory and threads */
	"brk", "munmap", "mremap", "madvise", "futex", "futex_wait", "futex_wake", "futex_requeue",
	"futex_waitv", "set_robust_list", "rseq", "membarrier", "getrandom", "exit", "exit_group",
	"gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "uname", "sysinfo",
	"getrusage", "getcpu", "sched_yield", "sched_getaffinity", "sched_getparam",
	"sched_getscheduler", "sched_setscheduler", "sched_get_priority_min",
	"sched_get_priority_max",
	/* time and signals */
	"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
	"restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
	/* waiting */
	"poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl",
	"epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2",
	/* files: of /proc and /sys, of programs for their symbols, of state, spool and keys */
	"open", "openat", "openat2", "close", "read", "pread64", "readv", "preadv", "preadv2",
	"write", "pwrite64", "writev", "pwritev", "pwritev2", "lseek", "fcntl", "flock", "stat",
	"lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat",
	"faccessat2", "readlink", "readlinkat", "getdents64", "mkdir", "mkdirat", "unlink",
	"unlinkat", "rename", "renameat", "renameat2", "ftruncate", "fallocate", "fsync",
	"fdatasync", "chmod", "fchmod", "fchmodat",
	/* the uplink: the probe connects, and accepts no connections */
	"connect", "bind", "getsockname", "getpeername", "getsockopt", "setsockopt", "sendto",
	"sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "shutdown",
	/* nginx found later, before kernel 6.6 */
	"perf_event_open",
};

/* What only an exploit would call. */
static const char *const deadly[] = {
	/* other programs, and other processes */
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
	"pidfd_getfd", "kcmp",
	/* the kernel */
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
	"iopl", "ioperm", "modify_ldt", "userfaultfd", "io_uring_setup", "keyctl", "add_key",
	"request_key",
	/* identity, namespaces and mounts */
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
	"setfsuid", "setfsgid", "capset", "setns", "unshare", "chroot", "pivot_root", "mount",
	"umount2", "move_mount", "open_tree", "fsopen", "fspick", "fsmount", "mount_setattr",
	"swapon", "swapoff", "open_by_handle_at",
};
/* clang-format on */

/* Allowed if the masked argument has the value. */
static const struct limited {
	const char *name;
	unsigned int arg;
	uint32_t mask, value;
} limited[] = {
	/* No new machine code. */
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	/* Threads, and no processes; the kernel gives a thread no user namespace of its own. */
	{ "clone", 0, CLONE_THREAD, CLONE_THREAD },
	{ "prctl", 0, INT, PR_SET_NAME },
	{ "prlimit64", 0, INT, 0 }, /* its own */
	{ "socket", 0, INT, AF_UNIX }, /* getaddrinfo queries nscd */
	{ "socket", 0, INT, AF_INET },
	{ "socket", 0, INT, AF_INET6 },
	{ "socket", 0, INT, AF_NETLINK }, /* getaddrinfo reads the addresses of this host */
	{ "ioctl", 1, INT, TCGETS }, /* is this a terminal */
	{ "ioctl", 1, INT, FIONREAD },
	{ "ioctl", 1, INT, PERF_EVENT_IOC_SET_BPF },
	{ "ioctl", 1, INT, PERF_EVENT_IOC_ENABLE },
	{ "ioctl", 1, INT, PERF_EVENT_IOC_DISABLE },
	/* Loaded programs may be attached; no others can be loaded. */
	{ "bpf", 0, INT, BPF_MAP_LOOKUP_ELEM },
	{ "bpf", 0, INT, BPF_MAP_UPDATE_ELEM },
	{ "bpf", 0, INT, BPF_MAP_DELETE_ELEM },
	{ "bpf", 0, INT, BPF_MAP_GET_NEXT_KEY },
	{ "bpf", 0, INT, BPF_LINK_CREATE },
	{ "bpf", 0, INT, BPF_RAW_TRACEPOINT_OPEN }, /* the same, before 5.19 */
	{ "bpf", 0, INT, BPF_OBJ_GET_INFO_BY_FD }, /* run times of the programs */
	{ "bpf", 0, INT, BPF_ITER_CREATE },
	{ "bpf", 0, INT,
	  BPF_PROG_TEST_RUN }, /* runs the program that names addresses (ksym_kernel.c) */
};

/* A name unknown to this libseccomp has no number: no rule, so the call fails with ENOSYS. */
static int add_rule(scmp_filter_ctx f, uint32_t action, const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	return nr == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(f, action, nr, 0);
}

static int add_limited(scmp_filter_ctx f, const struct limited *l)
{
	return seccomp_rule_add(f, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(l->name), 1,
				SCMP_CMP64(l->arg, SCMP_CMP_MASKED_EQ, l->mask, l->value));
}

static int fill_filter(scmp_filter_ctx f)
{
	/* abort(), and no signal to another process */
	const struct limited to_itself = { "tgkill", 0, INT, (uint32_t)getpid() };
	int r = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	/*
	 * Before 5.16 a filter also switches on the mitigation of speculative store bypass. The
	 * probe runs no foreign code, so it does not need the mitigation, which would make it
	 * slower.
	 */
	seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1);
	for (size_t i = 0; i < ARRAY_SIZE(allowed) && r == 0; i++)
		r = add_rule(f, SCMP_ACT_ALLOW, allowed[i]);
	for (size_t i = 0; i < ARRAY_SIZE(deadly) && r == 0; i++)
		r = add_rule(f, SCMP_ACT_KILL_PROCESS, deadly[i]);
	for (size_t i = 0; i < ARRAY_SIZE(limited) && r == 0; i++)
		r = add_limited(f, &limited[i]);
	return r < 0 ? r : add_limited(f, &to_itself);
}

int seccomp_enter(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r;

	if (!f)
		return -ENOMEM;
	r = fill_filter(f);
	if (r == 0)
		r = seccomp_load(f);
	seccomp_release(f);
	return r;
}

bool seccomp_possible(void)
{
	/* A kernel that supports filters fails with EFAULT on reading this one. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) < 0 && errno == EFAULT;
}

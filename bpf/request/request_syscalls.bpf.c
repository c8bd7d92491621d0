// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * request_syscalls.bpf.c - HTTP/1 requests from the exits of system calls, kernel 5.15 and later.
 *
 * At its exit the number and the arguments of a call are still in its pt_regs, so no entry is
 * hooked and nothing is stored between the two. The socket behind a file descriptor takes four
 * reads of kernel memory, two for any other file. The price: every system call of every process
 * passes here (DESIGN: 70 ns). Data moved by io_uring does not; a process that uses io_uring is
 * reported once.
 */
#define REQUEST_SYSCALLS
#include "bpf/request/request_hooks.h"
#include "bpf/request/request_sched.h"

#define LOCAL_STALE_NS (3600 * 1000000000ull)

/* Processes that use io_uring; each is reported once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} uring_users SEC(".maps");

/* A 32-bit system call has different numbers. */
static __always_inline bool is_compat(void)
{
#if defined(__TARGET_ARCH_x86)
	return bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
#else
	return false;
#endif
}

/* Sockets are recognized by their file operations, which are learnt from the first socket seen. */
static __always_inline bool is_socket(struct file *f)
{
	const void *fops = BPF_CORE_READ(f, f_op);

	if (control.socket_fops)
		return (__u64)fops == control.socket_fops;
	if ((BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	control.socket_fops = (__u64)fops;
	return true;
}

static __always_inline struct sock *sock_of_fd(__u64 fd)
{
	struct fdtable *table = bpf_get_current_task_btf()->files->fdt;
	struct file *f = NULL;
	struct socket *s;

	if ((__u32)fd >= table->max_fds)
		return NULL;
	if (bpf_probe_read_kernel(&f, sizeof(f), table->fd + (__u32)fd) || !f || !is_socket(f))
		return NULL;
	s = BPF_CORE_READ(f, private_data);
	return s ? BPF_CORE_READ(s, sk) : NULL;
}

/* The end of an AF_UNIX socket is not visible. */
static __always_inline bool conn_is_stale(const struct conn *c, __u64 now)
{
	__u64 last = c->role == ROLE_CLIENT ? c->call.last_ns : c->head.last_ns;
	__u64 first = c->role == ROLE_CLIENT ? c->call.start_ns : c->head.read_ns;

	return now - (last > first ? last : first) > LOCAL_STALE_NS;
}

/* The thread waited for the next event: if it is a loop, it has no current request now. */
static __always_inline void thread_waited(bool serves_many)
{
	struct thread *th = thread_get();

	if (!th)
		return;
	if (serves_many && th->cur)
		th->loop = 1;
	if (th->loop)
		th->cur = 0;
}

/* Bytes moved by sendmmsg or recvmmsg: of the first messages, which may hold a head. */
static __always_inline long mmsg_bytes(const struct pt_regs *r, long messages)
{
	const struct user_mmsghdr *m = (const struct user_mmsghdr *)REGS_ARG2(r);
	long bytes = 0;

	for (int i = 0; i < SPAN_PIECES; i++) {
		__u32 len = 0;

		if (i >= messages || bpf_probe_read_user(&len, sizeof(len), &m[i].len))
			break;
		bytes += len;
	}
	return bytes;
}

static __always_inline void uring_entered(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 tgid = t->tgid, one = 1;

	thread_waited(true);
	if (!in_scope() || bpf_map_lookup_elem(&uring_users, &tgid))
		return;
	bpf_map_update_elem(&uring_users, &tgid, &one, BPF_ANY);
	count(STAT_URING);
	unread_report(REQ_UNREAD_URING);
}

/* The bytes moved by a call, and between which files: one way, or (splice) both. */
struct moved {
	__s64 from, to; /* fd; -1: none */
	long ret; /* bytes or -errno */
};

static __always_inline struct moved moved_by(const struct pt_regs *r, long ret)
{
	struct moved m = { -1, -1, ret };

	switch (REGS_NR(r)) {
	case NR_RECVFROM:
		if (REGS_ARG4(r) & MSG_PEEK)
			break;
		m.from = (__u32)REGS_ARG1(r);
		break;
	case NR_RECVMSG:
		if (REGS_ARG3(r) & MSG_PEEK)
			break;
		m.from = (__u32)REGS_ARG1(r);
		break;
	case NR_RECVMMSG:
		if (ret > 0)
			m.ret = mmsg_bytes(r, ret);
		m.from = (__u32)REGS_ARG1(r);
		break;
	case NR_READ:
	case NR_READV:
		m.from = (__u32)REGS_ARG1(r);
		break;
	case NR_SENDMMSG:
		if (ret > 0)
			m.ret = mmsg_bytes(r, ret);
		m.to = (__u32)REGS_ARG1(r);
		break;
	case NR_WRITE:
	case NR_WRITEV:
	case NR_SENDTO:
	case NR_SENDMSG:
	case NR_SENDFILE:
		m.to = (__u32)REGS_ARG1(r);
		break;
	case NR_SPLICE:
		m.from = (__u32)REGS_ARG1(r);
		m.to = (__u32)REGS_ARG3(r);
		break;
	}
	return m;
}

/*
 * The AF_UNIX path of len bytes that a connect() was called with. Its key in unix_names is the
 * time, as no kernel object has it: the highest bit tells it from an address in user space. Global,
 * as its stack does not fit into that of its callers.
 */
__noinline int unix_addr_asked(struct req_addr *a, __u64 path, __u32 len, __u64 now)
{
	struct req_unix name = {};
	__u64 key = now | 1ull << 63;

	if (!a)
		return 0;
	name.len = at_most(len, REQ_UNIX_PATH);
	if (bpf_probe_read_user(name.path, at_most(len, REQ_UNIX_PATH), (const void *)path))
		return 0;
	bpf_map_update_elem(&unix_names, &key, &name, BPF_ANY);
	__builtin_memcpy(a->ip, &key, sizeof(key));
	a->len = REQ_ADDR_UNIX;
	return 0;
}

/* connect() to an AF_UNIX address returned ret. Nobody listens there if that is an error. */
static __always_inline void unix_connected(const struct pt_regs *r, int ret)
{
	struct thread *th = thread_get();
	__u64 now = bpf_ktime_get_ns(), id = th ? thread_cur(th) : 0;
	struct req_peer p = { .state = PEER_REFUSED, .error = -ret };
	__u16 family = 0;

	if (!th || ret >= 0 || is_to_be_tried_again(ret) || ret == -EINPROGRESS ||
	    REGS_NR(r) != NR_CONNECT)
		return;
	if (bpf_probe_read_user(&family, sizeof(family), (const void *)REGS_ARG2(r)) ||
	    family != AF_UNIX)
		return;
	if (!id || id == CUR_NOBODY) {
		call_unknown(habit_of(bpf_get_current_pid_tgid() >> 32), now);
		return;
	}
	unix_addr_asked(&p.addr, REGS_ARG2(r) + sizeof(family), REGS_ARG3(r) - sizeof(family), now);
	peer_note(th, id, &p, now);
}

static __always_inline void waited_in(const struct pt_regs *r, long ret)
{
	switch (REGS_NR(r)) {
	case NR_CONNECT:
		unix_connected(r, (int)ret);
		break;
#ifdef NR_EPOLL_WAIT
	case NR_EPOLL_WAIT:
#endif
	case NR_EPOLL_PWAIT:
	case NR_EPOLL_PWAIT2:
		thread_waited(false);
		break;
#ifdef NR_POLL
	case NR_POLL:
#endif
	case NR_PPOLL:
		thread_waited(REGS_ARG2(r) > 1); /* one: it waits for that one */
		break;
#ifdef NR_SELECT
	case NR_SELECT:
#endif
	case NR_PSELECT6:
		thread_waited(true);
		break;
	case NR_IO_URING_ENTER:
		uring_entered();
		break;
	}
}

static __always_inline void on_call(const struct pt_regs *r, long ret)
{
	struct moved m = moved_by(r, ret);
	struct sock *sk;

	if (m.from < 0 && m.to < 0) {
		waited_in(r, ret);
		return;
	}
	if (m.from >= 0) {
		sk = sock_of_fd(m.from);
		if (sk)
			sock_read(sk, (int)m.ret);
	}
	if (m.to >= 0 && m.ret > 0) {
		sk = sock_of_fd(m.to);
		if (sk)
			sock_written(sk, (int)m.ret);
	}
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	if (control.on && !is_compat())
		on_call(regs, ret);
	return 0;
}

static __always_inline void sweep_key(__u64 key, struct conn *c, __u64 now)
{
	sweep_conn(c, (struct sock *)key, now);
	if (c->local && conn_is_stale(c, now))
		bpf_map_delete_elem(&conns, &key);
}

SEC("iter/bpf_map_elem")
int sweep(struct bpf_iter__bpf_map_elem *ctx)
{
	__u64 now = sweep_time(), *at = ctx->key, key;
	struct conn *c;

	if (!at)
		return 0;
	key = *at;
	/* not every helper accepts a pointer from ctx as a map value */
	c = bpf_map_lookup_elem(&conns, &key);
	if (c)
		sweep_key(key, c, now);
	return 0;
}

static long sweep_one(struct bpf_map *map, const __u64 *at, struct conn *c, const __u64 *now)
{
	sweep_key(*at, c, *now);
	return 0;
}

/*
 * For kernels on which user space cannot attach an iterator to a map: run by user space. Not loaded
 * elsewhere, as older kernels warn of such a program with a map that allocates.
 */
SEC("raw_tp")
int sweep_otherwise(void *ctx)
{
	__u64 now = sweep_time();

	bpf_for_each_map_elem(&conns, sweep_one, &now, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel.h - every kernel type and field that our programs read, and no others.
 *
 * CO-RE finds them by name in the running kernel's BTF, so this file lists all dependencies on the
 * kernel, and a build needs neither vmlinux.h nor BTF. The offsets here mean nothing.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, IPPROTO_TCP = 6, SOCK_STREAM = 1, MSG_PEEK = 2 };
enum {
	EINTR = 4,
	EAGAIN = 11,
	EPIPE = 32,
	EINPROGRESS = 115,
	ERESTARTSYS = 512
}; /* and its variants, above 512 */
enum { S_IFMT = 0170000, S_IFSOCK = 0140000 };
enum { S_IFREG = 0100000, O_APPEND = 02000 };
enum { TS_COMPAT = 2 }; /* arch/x86: the thread is in a 32-bit system call */

/* include/net/tcp_states.h */
enum tcp_state {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT = 2,
	TCP_SYN_RECV = 3,
	TCP_FIN_WAIT1 = 4,
	TCP_CLOSE = 7,
	TCP_CLOSE_WAIT = 8,
	TCP_LAST_ACK = 9,
	TCP_LISTEN = 10,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	__u8 bytes[16]; /* only its address is taken */
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num; /* local port, host order; 0 at TCP_CLOSE */
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	possible_net_t skc_net;
	unsigned long skc_flags; /* bits: enum sock_flags */
};

struct hlist_head;
struct sock;

struct net_device {
	char name[16];
};

struct dst_entry {
	struct net_device *dev;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	struct gendisk *rq_disk; /* before 5.17 */
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 io_start_time_ns; /* 0: its queue has no I/O statistics */
};

struct file_system_type {
	const char *name;
};

struct super_block {
	__u32 s_dev; /* major << 20 | minor */
	struct file_system_type *s_type;
	unsigned long s_magic;
	char s_id[32]; /* on a disk: the disk's name */
};

struct inode {
	unsigned short i_mode;
	unsigned int i_nlink;
	unsigned long i_ino;
	__u32 i_rdev; /* of a device node: major << 20 | minor */
	struct super_block *i_sb;
	long long i_size;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent; /* a root's parent is itself */
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent; /* the first mount's parent is itself */
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	const void *mnt_ns; /* NULL: unmounted; -EINVAL: kernel-internal */
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct hlist_head *f_ep; /* not NULL: an epoll watches this file */
	const void *f_op;
	void *private_data; /* of a socket file: its struct socket */
	struct inode *f_inode;
	unsigned int f_flags;
	unsigned int f_mode; /* FMODE_... */
	long long f_pos;
};

struct vm_area_struct {
	struct file *vm_file; /* NULL: anonymous mapping */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	__u16 sk_type;
	int sk_err;
	struct socket *sk_socket;
	struct dst_entry *sk_dst_cache; /* route to the peer; NULL: currently not known */
};

struct inet_sock {
	__be16 inet_sport; /* local port, still set at TCP_CLOSE */
};

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u8 icsk_pending; /* the timer that is armed */
	struct {
		__u32 lrcvtime; /* jiffies at the last data packet */
	} icsk_ack;
};

struct tcp_sock {
	__u32 chrono_stat[3]; /* jiffies that sending was limited by the peer's window, by the own
				 buffer */
	__u32 chrono_start;
	__u8 chrono_type : 2; /* the running one, from 1; 0: none */
	__u32 srtt_us; /* smoothed round trip time << 3 */
	__u32 total_retrans;
	__u32 rcv_ooopack;
	__u64 bytes_sent, bytes_retrans; /* bytes of the stream: sent, retransmissions included;
					    retransmitted */
	__u64 bytes_received; /* bytes of the stream, plus 1 for the FIN */
	__u32 write_seq; /* after the last byte written, sent or not */
	__u32 copied_seq; /* the first byte not yet read */
	__u32 rcv_nxt; /* after the last byte received */
	__u32 segs_in, segs_out, data_segs_out;
};

struct unix_address {
	int len; /* of name, including its family */
	struct {
		unsigned short sun_family;
		char sun_path[108];
	} name[];
};

struct unix_sock {
	struct unix_address *addr; /* the bound address; an accepted socket has its listener's */
	struct sock *peer;
};

struct thread_info {
	unsigned long flags; /* TIF_... */
	__u32 status;
};

struct kernfs_node {
	struct kernfs_node *parent; /* NULL for a root */
	const char *name;
	__u64 id;
};

struct kernfs_node___later { /* since 6.15 */
	struct kernfs_node *__parent;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

enum cgroup_subsys_id { memory_cgrp_id = 4 }; /* CO-RE uses the running kernel's value */

struct css_set {
	struct cgroup *dfl_cgrp; /* version 2 cgroup, set even where version 2 is not mounted */
	struct cgroup_subsys_state *subsys[1]; /* a longer array */
};

struct cfs_bandwidth {
	__u64 quota; /* ns; all ones: unlimited */
	__u64 throttled_time; /* ns that its queues were throttled, over all CPUs, added at each
				 unthrottle */
};

struct task_group {
	struct cgroup_subsys_state css;
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
};

struct sched_entity {
	__u64 sum_exec_runtime, prev_sum_exec_runtime; /* ns; the value when it last got a CPU */
};

struct sched_info {
	unsigned long pcount; /* times it was given a CPU */
	unsigned long long run_delay; /* total ns runnable without a CPU */
};

struct task_io_accounting {
	__u64 rchar, wchar; /* bytes, as returned by system calls */
	__u64 syscr, syscw; /* calls, counted when they end */
	__u64 read_bytes, write_bytes; /* read from disks; to be written to disks */
	__u64 cancelled_write_bytes; /* part of write_bytes truncated before it was written */
};

struct timer_list {
	void (*function)(struct timer_list *);
};

struct hrtimer {
	int (*function)(struct hrtimer *);
};

struct kmem_cache {
	const char *name;
};

struct percpu_counter {
	__s64 count; /* without the CPUs' pending deltas: a few pages each */
};

struct mm_struct {
	struct percpu_counter rss_stat[4]; /* pages: of files, anonymous, in swap, shared */
	unsigned long total_vm; /* pages */
};

struct mm_rss_stat { /* before 6.2 */
	struct {
		long counter;
	} count[4];
};

struct mm_struct___old {
	struct mm_rss_stat rss_stat;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int in_iowait : 1;
	struct sched_entity se;
	struct task_group *sched_task_group;
	struct css_set *cgroups;
	struct files_struct *files;
	unsigned int flags; /* PF_... */
	int pid;
	int tgid;
	struct task_struct *group_leader;
	char comm[16];
	unsigned long nvcsw; /* voluntary switches */
	unsigned long nivcsw; /* involuntary switches */
	__u64 start_time; /* ns of CLOCK_MONOTONIC */
	struct mm_struct *mm; /* NULL: a kernel thread, or an exited one */
	struct task_io_accounting ioac;
	struct sched_info sched_info;
	int exit_code; /* in the form of wait()'s status */
};

struct task_struct___old { /* before 5.14 */
	long state;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long ax; /* during a system call, until it has a result: -ENOSYS */
	unsigned long orig_ax;
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long r10;
	unsigned long r8;
	unsigned long ip;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	__u64 pc;
	int syscallno;
};
#endif

struct bpf_map;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
};

#pragma clang attribute pop

/* uapi: fixed layouts, read from process memory */
struct user_iovec {
	__u64 base;
	__u64 len;
};

struct user_msghdr {
	__u64 name;
	__u64 namelen;
	__u64 iov;
	__u64 iovlen;
	__u64 control, controllen, flags; /* flags has four bytes of padding */
};

struct user_mmsghdr {
	struct user_msghdr hdr;
	__u32 len; /* bytes sent of this message */
	__u32 unused;
};

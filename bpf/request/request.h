/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.h - the ring records and counters shared by bpf/request/request_*.bpf.c and
 * probe/request/src_request.c. Times are nanoseconds of CLOCK_MONOTONIC; addresses are in network
 * order, ports in host order. The length of a record depends on its kind; a request without calls
 * ends after its line.
 */
#pragma once

enum {
	REQ_LINE = 192, /* first bytes of the request, as read by the server */
	REQ_CALLS = 4, /* upstream calls kept per request; the last one is replaced */
	REQ_COMM = 16,
	REQ_ANSWER = 256, /* first bytes of the answer, used to detect its end */
	REQ_HELD_NS = 1000000, /* if sending took longer, the chronographs are read for the cause */
	REQ_PROFILE_NS = 5000000, /* on CPU this long without a socket call: profiled */
	REQ_PROFILE_HZ = 49, /* not in step with events every 10 or 20 ms */
	REQ_LONG_NS = 100000000, /* only longer answers are checked for being event streams */
	REQ_SETTLE_NS = 20000000, /* wait after a whole answer: another one may follow */
	REQ_SWEEP_NS = 200000000, /* an answer of unknown length has ended after this silence */
};

/*
 * Instead of an IP address, a path: ip begins with the 8-byte key of the path in the map
 * unix_names.
 */
enum { REQ_ADDR_UNIX = 1, REQ_UNIX_PATH = 108 };

struct req_unix {
	__u32 len; /* of path; an abstract path begins with a NUL, others may end in one */
	char path[REQ_UNIX_PATH];
};

enum req_kind {
	REQ_KIND_REQUEST = 1,
	REQ_KIND_CALL = 2,
	REQ_KIND_UNREAD = 3,
	REQ_KIND_BLOCK = 4, /* precedes the record of its request */
	REQ_KIND_NGINX = 5, /* nginx's own record, see nginx_uprobe.h */
	REQ_KIND_NGINX_LOOK = 6,
	REQ_KIND_STACK = 7, /* precedes its request, too */
};

/* Why a thread was not on a CPU. */
enum req_wait {
	WAIT_RUNQ, /* runnable */
	WAIT_THROTTLED, /* runnable, but its cgroup had used up its CPU quota */
	WAIT_IO,
	WAIT_DIRTY, /* writing, slowed down by writeback */
	WAIT_FAULT, /* page fault that sleeps */
	WAIT_RECLAIM, /* freeing memory: the whole reclaim, time on CPU included */
	WAIT_LOCK,
	WAIT_SLEEP,
	WAIT_STOPPED,
	WAIT_RECV, /* bytes of a socket or pipe that is neither the request's nor an upstream's */
	WAIT_SEND, /* the client: to take bytes, or to send the rest of its request */
	WAIT_POLL, /* one of many descriptors, or one not known to be an upstream's */
	WAIT_UPSTREAM,
	WAIT_OTHER,
	WAIT_LOOP, /* its event loop, busy with another request */
	WAIT_END
};

/*
 * Time that threads spent on a request, as far as the hooks could see it. For a thread that serves
 * one request at a time: everything from the read to the last byte. For an event loop: its work on
 * this request, between its waits and its work on other requests; the time in between is not
 * included.
 */
struct req_split {
	__u64 own_ns;
	__u64 wait_ns[WAIT_END]; /* part of own_ns off CPU; the rest of own_ns is on CPU */
	__u64 runq_ns; /* part of the queue time: the thread was woken and waited for a CPU */
	__u64 throttled_ns; /* part of the queue time: the thread was throttled by its cgroup's
			       quota */
	__u64 pool_ns; /* after the read: until another thread took the request */
	__u64 loop_ns; /* an upstream's answer lay unread while the loop was busy with other
			  requests */
	__u64 own_body_ns, own_first_ns; /* own_ns at body_ns, and at the answer's first byte */
};

/* TCP's own account of a connection, over the request. */
struct req_net {
	__u32 rwnd_us, sndbuf_us; /* sending limited by the peer's window, by the own buffer */
	__u32 busy_us; /* bytes were in flight, or sending was limited */
	__u16 lost[6]; /* retransmitted segments, by REQ_LOSS_* */
};

enum { /* index in lost[] */
       REQ_LOSS_SYN = 1,
       REQ_LOSS_FAST,
       REQ_LOSS_SLOW_START,
       REQ_LOSS_RTO,
       REQ_LOSS_TLP,
};

enum { BLOCK_FRAMES = 24, BLOCK_FILE = 192 };

enum block_flag {
	BLOCK_BY_TIMER = 2, /* a lock: the wait timed out */
	BLOCK_HAS_FILE = 4,
	BLOCK_HAS_WHO = 8,
	BLOCK_SYNC = 16, /* a sync of the whole file system: no single file */
};

/*
 * A thread was off its CPU for long, once or in several waits of one system call: what it was doing
 * and what it waited for. A wait that goes on is reported in pieces; each piece covers the time
 * since the previous one.
 */
struct req_block {
	__u32 kind; /* enum req_kind */
	__u32 flags; /* enum block_flag */
	__u64 id; /* of the request it worked on; 0: none, or not known */
	__u64 start_ns, end_ns; /* from the first switch out to the last switch in */
	__u64 off_ns; /* the part of that time off CPU */
	__u32 tgid, tid;
	char comm[REQ_COMM];
	__u32 wait; /* enum req_wait */
	__s32 nr; /* of the system call, as its architecture numbers them; -1: none */
	__u64 arg[3]; /* of the system call */
	__u32 who_tgid, who_tid; /* WAIT_LOCK: the thread that released it; WAIT_RUNQ: the thread
				    that had the CPU */
	char who[REQ_COMM];
	__u64 cgroup; /* WAIT_THROTTLED, WAIT_RECLAIM: cgroup id */
	__u32 dev; /* of the file: as the kernel packs it, major << 20 | minor */
	__u32 file_len;
	char file[BLOCK_FILE]; /* path components, innermost first, each ended by a NUL; "/" is the
				  last */
	__u32 nframes;
	__u32 unused;
	__u64 frame[BLOCK_FRAMES]; /* kernel addresses, innermost first */
};
enum req_unread {
	REQ_UNREAD_TLS = 1,
	REQ_UNREAD_HTTP2 = 2,
	REQ_UNREAD_UPGRADED = 3,
	REQ_UNREAD_URING = 4
};

enum req_flag {
	REQ_CLIENT_CLOSED = 1,
	REQ_NO_ANSWER = 2,
	REQ_PIPELINED = 4,
	REQ_HEAD_MISSED = 8, /* answered, but not with a status line */
	REQ_HOPPED = 16, /* read and answered by different threads: its calls are not known */
	REQ_CALLS_CUT = 32,
	REQ_STREAM = 64, /* an event stream: its time is that of its first byte */
	REQ_DOUBTFUL = 128, /* its calls may be mixed with another request's, or are not known */
	REQ_DROPPED = 256, /* closed without an answer by a process that goes on */
};

enum call_flag {
	CALL_REUSED = 1, /* not the first request on its connection */
	CALL_FAILED = 2, /* never established */
	CALL_NO_ANSWER = 4,
	CALL_SENT = 8, /* an HTTP request went out */
};

struct req_addr {
	__u8 ip[16];
	__u16 port;
	__u16 len; /* 4 or 16; 0: none; or REQ_ADDR_UNIX */
};

struct req_call {
	__u64 start_ns; /* connect(), or the first write on a reused connection */
	__u64 connect_ns; /* when established; 0: reused or never */
	__u64 last_ns; /* last byte of the answer, or the end without one */
	struct req_addr addr;
	__u16 status;
	__u16 error; /* errno of the socket */
	__u32 flags; /* enum call_flag */
	__u32 retrans;
	__u32 srtt_us;
	__u16 local_port; /* source port of the call, as the called host sees it */
	__u16 unused;
};

/* What a peer by another protocol than HTTP did. */
enum peer_state {
	PEER_READ = 1, /* bytes came from it */
	PEER_ENDED = 2, /* its connection ended before any came: error */
	PEER_REFUSED = 4, /* no connection: error */
};

/*
 * A connection of another protocol than HTTP (FastCGI or a database, say) that was used for the
 * request. If there are several, the one with the longest wait of a thread for its bytes, or the
 * one that failed.
 */
struct req_peer {
	struct req_addr addr; /* len 0: none */
	__u32 first; /* the first four bytes sent to it, in the order of memory; 0: not known */
	__u64 wait_ns;
	__u32 state; /* enum peer_state */
	__u16 error; /* errno */
	__u16 unused;
};

struct req_head {
	__u32 kind; /* enum req_kind */
	__u32 flags; /* enum req_flag; in a record of an unread connection: enum req_unread */
	__u64 id;
	__u64 read_ns, first_ns, last_ns;
	__u64 bytes_in, bytes_out;
	__u32 tgid, tid;
	char comm[REQ_COMM]; /* of the process, from its group leader */
	struct req_addr remote, local;
	__u32 queue_jiffies; /* from the arrival of the last packet to the read */
	__u32 retrans, srtt_us, rcv_ooo;
	__u16 status;
	__u16 line_len;
	__u32 ncalls;
	struct req_net net, up_net; /* of the client's connection; of all upstreams together */
	struct req_split split; /* all zero: not measured */
	__u64 body_ns; /* the last read that brought bytes of the request */
	__u32 netns; /* inode of the network namespace */
	__u32 unused;
};

struct req_event {
	struct req_head head;
	char line[REQ_LINE];
	struct req_call call[REQ_CALLS]; /* ncalls of them; then help and peer, if the record is
					    long enough */
	struct req_split help; /* time of helper threads; may overlap with split */
	struct req_peer peer;
};

/* The calls of one request in flight. */
struct req_calls {
	__u32 n;
	__u8 answered; /* no new call can belong to it */
	__u8 doubtful; /* one of its calls belongs to another request: no call is reported */
	__u8 open; /* calls without an answer yet */
	__u8 named; /* its last call was given to it by name */
	__u32 target; /* of the request, as in its struct conn */
	__u32 unused;
	__u64 touched_ns;
	struct req_call call[REQ_CALLS];
	struct req_net net;
	struct req_split split; /* work done for these calls */
	struct req_split help; /* work of helper threads in parallel */
	struct req_peer peer;
};

enum { STACK_FRAMES = 24 };
enum stack_flag { STACK_CUT = 1 }; /* set by the probe: the frames after the cut were not code */

/* As the kernel's struct bpf_stack_build_id. */
struct req_frame {
	__s32 status; /* 1: a file's build id and the offset in it; 2: an address, in no file */
	__u8 build_id[20];
	__u64 where;
};

/* One profiler sample of a thread on its CPU; REQ_PROFILE_HZ samples per second. */
struct req_stack {
	__u32 kind; /* enum req_kind */
	__u32 flags; /* enum stack_flag */
	__u64 id; /* of the request it worked on */
	__u64 at_ns;
	__u32 tgid, tid;
	char comm[REQ_COMM];
	__u32 nframes;
	__u32 unused;
	struct req_frame frame[STACK_FRAMES]; /* of user space, innermost first */
};

/* A client call that belongs to no known request. */
struct req_call_event {
	__u32 kind;
	__u32 tgid;
	char comm[REQ_COMM];
	struct req_call call;
};

enum req_stat {
	STAT_SEEN, /* requests finished */
	STAT_RING_FULL,
	STAT_CONN_FULL, /* requests on a socket for which the map had no room */
	STAT_CALLS_FULL,
	STAT_USER_FAULT, /* a buffer could not be read */
	STAT_UNKNOWN, /* calls without a certain request */
	STAT_LATE, /* answer bytes after the request was reported as finished */
	STAT_CLIENT_FULL, /* calls on a socket for which the map had no room */
	STAT_URING, /* io_uring reads whose bytes were not seen; with syscall hooks: processes that
		       use io_uring */
	STAT_BLOCK_FULL, /* long waits dropped for lack of room in the ring: lost evidence, no lost
			    request */
	STAT_BY_NAMES, /* processes that call and whose threads do not show for which request */
	STAT_END
};

/*
 * Shared through .bss. User space sets `on` when every hook is attached; the sweep keeps the
 * clocks.
 */
struct req_control {
	__u32 on;
	__u32 own_tgid; /* the probe itself: not watched */
	__u64 scope_id; /* id of the cgroup2 whose tasks are watched; 0: all tasks */
	__u32 scope_level;
	__u32 conns, conns_max; /* TCP sockets followed; where they are in a hash, the hash's size
				   is the limit */
	__u32 resting; /* no sweep is running: the start of an answer is announced in the ring */
	__u64 socket_fops; /* file_operations of sockets, once a socket was seen; else 0 */
	__u64 clock_ns, clock_jiffies; /* one moment, on both clocks: gives the length of a jiffy */
	__u64 jiffy_ns; /* computed by user space from these clocks; 0: not known yet */
	__u32 split; /* the scheduler hooks are attached: time can be split */
	__u32 answered; /* set by the sweep: there is an answer that the sweep may have to end */
	__u64 unknown_ns; /* the last call of a server whose request is not known */
	__u64 block_ns; /* a thread off its CPU for this long is reported */
};

_Static_assert(sizeof(struct req_addr) == 20, "req_addr");
_Static_assert(sizeof(struct req_unix) == 112, "req_unix");
_Static_assert(sizeof(struct req_call) == 64, "req_call");
_Static_assert(sizeof(struct req_net) == 24, "req_net");
_Static_assert(sizeof(struct req_split) == 8 * (7 + WAIT_END), "req_split");
_Static_assert(sizeof(struct req_head) == 144 + 48 + 176 + 16, "req_head");
_Static_assert(sizeof(struct req_event) == sizeof(struct req_head) + REQ_LINE + 64 * REQ_CALLS +
						   sizeof(struct req_split) +
						   sizeof(struct req_peer),
	       "req_event");

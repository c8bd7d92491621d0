/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.h - what bpf/request_*.bpf.c and probe/request/src_request.c agree on: the records in the
 * ring and the counters. Times are nanoseconds of CLOCK_MONOTONIC; addresses in network order,
 * ports in host order. A record is as long as its kind says; a request without calls ends with its
 * line.
 */
#pragma once

enum {
	REQ_LINE = 192, /* first bytes of the request, as read by the server */
	REQ_CALLS = 4, /* upstream calls kept per request; the last one is replaced */
	REQ_COMM = 16,
	REQ_ANSWER = 256, /* first bytes of the answer, to tell whether it is whole */
	REQ_HELD_NS = 1000000, /* sending took longer: who held it up is asked for */
	REQ_PROFILE_NS = 5000000, /* at work for so long without a word: it is looked at */
	REQ_PROFILE_HZ = 49, /* not in step with what happens every 10 or 20 ms */
	REQ_LONG_NS = 100000000, /* only an answer longer than this is worth asking what it is */
	REQ_SETTLE_NS = 20000000, /* a whole answer is left for so long: another may follow it */
	REQ_SWEEP_NS = 200000000, /* an answer of unknown length, silent for so long, has ended */
};

/* A path instead of an IP address: ip begins with its key in the map unix_names, 8 bytes. */
enum { REQ_ADDR_UNIX = 1, REQ_UNIX_PATH = 108 };

struct req_unix {
	__u32 len; /* of path; one that begins with a NUL is abstract, others may end in one */
	char path[REQ_UNIX_PATH];
};

enum req_kind {
	REQ_KIND_REQUEST = 1,
	REQ_KIND_CALL = 2,
	REQ_KIND_UNREAD = 3,
	REQ_KIND_BLOCK = 4, /* comes before the request that it belongs to */
	REQ_KIND_NGINX = 5, /* nginx's own word, see nginx.h */
	REQ_KIND_NGINX_LOOK = 6,
	REQ_KIND_STACK = 7, /* so does this */
};

/* Why a thread was not on a CPU. */
enum req_wait {
	WAIT_RUNQ, /* it could have run */
	WAIT_THROTTLED, /* so, but its cgroup had used up its CPU quota */
	WAIT_IO,
	WAIT_DIRTY, /* writing, slowed down by writeback */
	WAIT_FAULT, /* page fault that sleeps */
	WAIT_RECLAIM, /* freeing memory: the whole of it, with what it ran for */
	WAIT_LOCK,
	WAIT_SLEEP,
	WAIT_STOPPED,
	WAIT_RECV, /* for bytes of another socket or pipe than the request's own and an upstream's
		    */
	WAIT_SEND, /* for the client: to take bytes, or to send the rest of its request */
	WAIT_POLL, /* for one of many, or for one that is not known to be an upstream's */
	WAIT_UPSTREAM,
	WAIT_OTHER,
	WAIT_LOOP, /* for its loop, busy with another request */
	WAIT_END
};

/*
 * Where the threads that worked on a request spent their time, as far as they were seen to work on
 * it. A thread that serves one at a time: all of it, from the read to the last byte. A loop: the
 * stretches between two of its waits or turns to another request; what lies between is not in here.
 */
struct req_split {
	__u64 own_ns;
	__u64 wait_ns[WAIT_END]; /* of own_ns, not on a CPU; the rest of own_ns is on one */
	__u64 runq_ns; /* of the queue time: its thread had been woken, and waited for a CPU */
	__u64 throttled_ns; /* the same, by the quota of its cgroup */
	__u64 pool_ns; /* after the read: until another thread took it up */
	__u64 loop_ns; /* an upstream's answer lay unread: the loop was busy with others */
	__u64 own_body_ns, own_first_ns; /* own_ns at body_ns, and at the answer's first byte */
};

/* What a socket says about its peer, over the request. */
struct req_net {
	__u32 rwnd_us, sndbuf_us; /* sending was held up by the peer's window, by the own buffer */
	__u32 busy_us; /* bytes were on their way, or held up */
	__u16 lost[6]; /* segments sent again, by REQ_LOSS_* */
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
	BLOCK_BY_TIMER = 2, /* a lock: it gave up waiting */
	BLOCK_HAS_FILE = 4,
	BLOCK_HAS_WHO = 8,
	BLOCK_SYNC = 16, /* of the whole file system: no file of its own */
};

/*
 * A thread was off its CPU for long, in one go or in many of one system call: what it was doing,
 * whom it waited for. What lasts is told in pieces, each of what is new since the last.
 */
struct req_block {
	__u32 kind; /* enum req_kind */
	__u32 flags; /* enum block_flag */
	__u64 id; /* of the request it worked on; 0: none, or not known */
	__u64 start_ns, end_ns; /* from the first time off its CPU to the last */
	__u64 off_ns; /* and how much of that it was off */
	__u32 tgid, tid;
	char comm[REQ_COMM];
	__u32 wait; /* enum req_wait */
	__s32 nr; /* of the system call, as its architecture numbers them; -1: none */
	__u64 arg[3]; /* of the system call */
	__u32 who_tgid, who_tid; /* of WAIT_LOCK, who released it; of WAIT_RUNQ, who had the CPU */
	char who[REQ_COMM];
	__u64 cgroup; /* of WAIT_THROTTLED and WAIT_RECLAIM: its id */
	__u32 dev; /* of the file: as the kernel packs it, major << 20 | minor */
	__u32 file_len;
	char file[BLOCK_FILE]; /* names on its path, from its own up, each with a NUL; "/" ends it
				*/
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
	REQ_HEAD_MISSED = 8, /* it was answered, but not by what looks like a status line */
	REQ_HOPPED = 16, /* read and answered by different threads: its calls cannot be told */
	REQ_CALLS_CUT = 32,
	REQ_STREAM = 64, /* an event stream: its time is that of its first byte */
	REQ_DOUBTFUL = 128, /* its calls and another request's cannot be told apart */
};

enum call_flag {
	CALL_REUSED = 1, /* not the first request on its connection */
	CALL_FAILED = 2, /* never connected */
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
	__u16 local_port; /* the called host sees the call come from here */
	__u16 unused;
};

/*
 * A connection that is no HTTP, which a thread opened to somebody, and waited on for bytes while it
 * worked on one request: to a database, say. Of several the one that it waited for the longest.
 */
struct req_peer {
	struct req_addr addr; /* len 0: none */
	__u32 unused;
	__u64 wait_ns;
};

struct req_head {
	__u32 kind; /* enum req_kind */
	__u32 flags; /* enum req_flag; of an unread connection: enum req_unread */
	__u64 id;
	__u64 read_ns, first_ns, last_ns;
	__u64 bytes_in, bytes_out;
	__u32 tgid, tid;
	char comm[REQ_COMM]; /* of the process: its group leader's */
	struct req_addr remote, local;
	__u32 queue_jiffies; /* arrival of the last packet to the read */
	__u32 retrans, srtt_us, rcv_ooo;
	__u16 status;
	__u16 line_len;
	__u32 ncalls;
	struct req_net net, up_net; /* of the client's connection; of all upstreams' together */
	struct req_split split; /* all zero: not measured */
	__u64 body_ns; /* the last read that brought bytes of it */
	__u32 netns; /* inode of the network namespace */
	__u32 unused;
};

struct req_event {
	struct req_head head;
	char line[REQ_LINE];
	struct req_call
		call[REQ_CALLS]; /* ncalls of them; there, with help, if the record is so long */
	struct req_split help; /* by helper threads, while its own may have worked on it, too */
	struct req_peer peer;
};

/* The calls of one request in flight. */
struct req_calls {
	__u32 n;
	__u8 answered; /* no new call can belong to it */
	__u8 doubtful; /* one of them was another request's: none is told */
	__u16 unused;
	__u64 touched_ns;
	struct req_call call[REQ_CALLS];
	struct req_net net;
	struct req_split split; /* what was done for these calls */
	struct req_split help; /* what helper threads did, beside it */
	struct req_peer peer;
};

enum { STACK_FRAMES = 24 };
enum stack_flag { STACK_CUT = 1 }; /* set by the probe: what followed was no code */

/* As the kernel's struct bpf_stack_build_id. */
struct req_frame {
	__s32 status; /* 1: a file's build id and the offset in it; 2: an address, in no file */
	__u8 build_id[20];
	__u64 where;
};

/* What a thread was doing on its CPU: one of REQ_PROFILE_HZ looks a second. */
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

/* A client call that belongs to no request we know. */
struct req_call_event {
	__u32 kind;
	__u32 tgid;
	char comm[REQ_COMM];
	struct req_call call;
};

enum req_stat {
	STAT_SEEN, /* requests finished */
	STAT_RING_FULL,
	STAT_CONN_FULL, /* requests on a socket whose state found no room */
	STAT_CALLS_FULL,
	STAT_USER_FAULT, /* a buffer could not be read */
	STAT_UNKNOWN, /* a call that could not be given to a request for sure */
	STAT_LATE, /* answer bytes after the request had been called finished */
	STAT_CLIENT_FULL, /* calls on a socket whose state found no room */
	STAT_URING, /* reads by io_uring whose bytes were not seen; by syscalls: its users */
	STAT_BLOCK_FULL, /* long waits that the ring had no room for: evidence, no request */
	STAT_END
};

/* Shared through .bss: user space switches on when every hook is attached, the sweep tells time. */
struct req_control {
	__u32 on;
	__u32 own_tgid; /* the probe itself: not watched */
	__u64 scope_id; /* of the cgroup2 whose tasks are watched; 0: all are */
	__u32 scope_level;
	__u32 conns, conns_max; /* TCP sockets followed; where they are in a hash, its size tells */
	__u32 resting; /* nobody sweeps: an answer that begins says so in the ring */
	__u64 socket_fops; /* file_operations of sockets, once one was seen; else 0 */
	__u64 clock_ns, clock_jiffies; /* one moment, on both clocks: gives the length of a jiffy */
	__u64 jiffy_ns; /* which user space has from them; 0: not known yet */
	__u32 split; /* the hooks on the scheduler are there: time is told apart */
	__u32 answered; /* set by the sweep: there is an answer whose end it may be to find */
	__u64 block_ns; /* a thread that is off its CPU for so long is told of */
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

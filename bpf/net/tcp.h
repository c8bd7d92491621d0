/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tcp.h - the counters shared by bpf/net/tcp.bpf.c and probe/source/tcp/src_tcp.c: TCP connections
 * per application. Slots as in block.h.
 */
#pragma once

enum {
	TCP_NAME = 16, /* of a program's name in the kernel */
	TCP_UNIT = 64,
	TCP_APPS = 256, /* including one entry shared by all others */
	TCP_FIRST_NS = 15, /* up to 2^15 ns = 32 us, then twice as long each ... */
	TCP_FIRST_US = 5,
	TCP_SLOTS = 20, /* ... up to 8.6 s; the last: more */
	TCP_PEERS = 256, /* peers with faults between two readings */
	TCP_DEV = 16,
};

/* Faults: a data segment was retransmitted, or a connection failed. */
enum tcp_fault {
	TCP_AGAIN,
	TCP_REFUSED,
	TCP_TIMED_OUT,
	TCP_UNREACHABLE,
	TCP_GIVEN_UP, /* the caller gave up before an answer */
	TCP_NOT_SENT, /* no local address or port available */
	TCP_FAILED, /* by another error */
	TCP_FAULTS
};

/*
 * The owner of a connection: the application that connected, or that listened where it was
 * accepted.
 */
struct tcp_app_key {
	__u64 cgroup; /* 0, never a cgroup id: the shared entry */
	char name[TCP_NAME]; /* of the process' main thread */
};

/* The layouts of the counters. */
struct tcp_counts {
	__u64 connect[TCP_SLOTS]; /* established connections, by time to connect */
	__u64 round_trip[TCP_SLOTS]; /* connections, by mean round trip */
	__u64 connect_ns;
	__u64 connects, accepts;
	__u64 failed[TCP_FAULTS - 1]; /* from TCP_REFUSED */
	__u64 sent_bytes, received_bytes; /* of the streams: no byte counts twice */
	__u64 sent, received; /* segments */
	__u64 sent_data; /* segments with data, retransmissions included */
	__u64 again, timeouts; /* retransmissions; those after a timeout */
	__u64 syn_again; /* retransmitted SYNs */
	__u64 open; /* connections open now */
};

struct tcp_app {
	struct tcp_counts n;
	__u64 sockets; /* sockets counted in open */
	__u64 named; /* unit is final */
	char unit[TCP_UNIT]; /* systemd unit: "nginx.service"; "": none */
};

/* Over all applications. */
struct tcp_totals {
	__u64 fault[TCP_FAULTS];
	__u64 connects;
	__u64 sent_data; /* up to the last reading */
};

struct tcp_peer_key {
	struct tcp_app_key app;
	__u8 ip[16];
	__u16 port; /* host order; 0: the peer connected, its port is arbitrary */
	__u8 len; /* of ip */
	__u8 fault; /* enum tcp_fault */
	__u32 unused;
};

struct tcp_peer {
	__u64 n;
	char dev[TCP_DEV]; /* "": not known */
};

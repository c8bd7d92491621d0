/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tcp.h - what bpf/net/tcp.bpf.c and probe/source/tcp/src_tcp.c agree on: what the TCP connections
 * of each application did. Slots as in block.h.
 */
#pragma once

enum {
	TCP_NAME = 16, /* of a program, as the kernel keeps it */
	TCP_UNIT = 64,
	TCP_APPS = 256, /* with those beyond, one for all of them */
	TCP_FIRST_NS = 15, /* up to 2^15 ns = 32 us, then twice as long each ... */
	TCP_FIRST_US = 5,
	TCP_SLOTS = 20, /* ... up to 8.6 s; the last: more */
	TCP_PEERS = 256, /* with which something went wrong, between two looks */
	TCP_DEV = 16,
};

/* What went wrong: a segment with data was sent again, or a connection did not come about. */
enum tcp_fault {
	TCP_AGAIN,
	TCP_REFUSED,
	TCP_TIMED_OUT,
	TCP_UNREACHABLE,
	TCP_GIVEN_UP, /* by the caller, before there was an answer */
	TCP_NOT_SENT, /* there was no address or port to ask from */
	TCP_FAILED, /* by another error */
	TCP_FAULTS
};

/* Whose a connection is: of who asked for it, of who listened where it was accepted. */
struct tcp_app_key {
	__u64 cgroup; /* 0, no cgroup's id: those that have no place of their own */
	char name[TCP_NAME]; /* of the process' main thread */
};

/* In the order of the layouts. */
struct tcp_counts {
	__u64 connect[TCP_SLOTS]; /* connections that came about after so long */
	__u64 round_trip[TCP_SLOTS]; /* connections whose mean round trip took so long */
	__u64 connect_ns;
	__u64 connects, accepts;
	__u64 failed[TCP_FAULTS - 1]; /* from TCP_REFUSED */
	__u64 sent_bytes, received_bytes; /* of the streams: none counts twice */
	__u64 sent, received; /* segments */
	__u64 sent_data; /* of those, with bytes of the stream; sent again or not */
	__u64 again, timeouts; /* sent again; after a timeout */
	__u64 syn_again; /* asked again for a connection */
	__u64 open; /* connections now */
};

struct tcp_app {
	struct tcp_counts n;
	__u64 sockets; /* that count here */
	__u64 named; /* unit is what it will be */
	char unit[TCP_UNIT]; /* of systemd: "nginx.service"; "": none */
};

/* Of all applications. */
struct tcp_totals {
	__u64 fault[TCP_FAULTS];
	__u64 connects;
	__u64 sent_data; /* up to the last look */
};

struct tcp_peer_key {
	struct tcp_app_key app;
	__u8 ip[16];
	__u16 port; /* host order; 0: the peer asked, its port says nothing */
	__u8 len; /* of ip */
	__u8 fault; /* enum tcp_fault */
	__u32 unused;
};

struct tcp_peer {
	__u64 n;
	char dev[TCP_DEV]; /* "": not known */
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* drop.h - what drop.bpf.c and drop.c agree on. Ports in host order, times of CLOCK_MONOTONIC. */
#pragma once

enum { DROP_HEAD = 96 };

enum drop_mode { /* of a connection that was drawn; one of those that are switched on */
		 DROP_SYN = 1, /* its first SYN */
		 DROP_ONE = 2, /* one segment with data */
		 DROP_TWICE =
			 4, /* one segment with data, and the first time that it is sent again */
		 DROP_BURST = 8, /* every segment with data for some time */
		 DROP_ANY = 16, /* every segment with data by chance, of all connections */
};

struct drop_rule {
	__u32 modes, one_in; /* which, and of how many connections (DROP_ANY: segments) one */
	__u32 burst_ms, after; /* segments with data that go by before */
	__u16 sport, dport; /* 0: any */
};

enum drop_what { DROPPED = 1, PASSED_AGAIN = 2, FIRST_DATA = 3 };

struct drop_event {
	__u64 ns;
	__u32 what; /* enum drop_what */
	__u32 mode; /* enum drop_mode */
	__u32 seq, len;
	__u16 sport, dport;
	__u32 syn;
	char head[DROP_HEAD]; /* of FIRST_DATA: what a connection begins with */
};

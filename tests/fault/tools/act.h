// SPDX-License-Identifier: Apache-2.0
/*
 * act.h - what a handler of server.c can be asked to do. Each returns how long it took by the
 * server's own clock, and the name that a diagnosis should find: that is the truth of the bench.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct shared { /* of all threads and processes of the server */
	volatile uint64_t hold_until; /* CLOCK_MONOTONIC: nothing is accepted before */
	struct lock *lock;
};

struct act {
	/* asked for */
	char name[16];
	int ms, kb, port; /* port: of the upstream, instead of the usual one */
	int answer; /* bytes of the body */
	char up_query[96]; /* what the upstream is asked to do */
	char path[160];
	/* found */
	uint64_t start_ns, ns; /* of what was asked for: wall, and how long */
	char what[160], who[48]; /* file; thread that held the lock */
	int up_port, status;
};

/* dir: for files; upstream: who is called; forks: who holds the lock is a process, else a thread.
 */
void act_open(const char *dir, const struct sockaddr_in *upstream, struct shared *s, bool forks);
void act_run(struct act *a);
/* After the answer. */
void act_after(const struct act *a);
uint64_t act_mono_ns(void);

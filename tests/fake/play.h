// SPDX-License-Identifier: Apache-2.0
/*
 * play.h - an uplink, and a collector played by the test: a real ROUTER, scripted answers, and a
 * clock that only the test advances.
 */
#pragma once

#include "lib/uplink/uplink.h"
#include "tests/lib/test.h"
#include "tests/fake/clock.h"

#define SEC 1000000000ull
#define NODE "n1"

enum { MAX_SEEN = 4096, PEER = 64, LAYOUT = 2 };

struct seen {
	enum wire_type type;
	uint8_t stream;
	uint64_t epoch, seq, base, layout, sent_ns;
	size_t len;
};

/* The fake collector: what it received, and which peer it answers. */
struct collector {
	void *zmq, *router;
	struct key_pair key;
	char endpoint[64];
	uint8_t peer[PEER];
	size_t peer_len;
	uint32_t peers; /* peers seen so far */
	struct seen seen[MAX_SEEN];
	uint32_t n, hellos;
	char next_key[KEY_TEXT]; /* of the last HELLO */
	struct buf frame;
};

struct play {
	struct collector c;
	struct endpoints at;
	struct keyring keys; /* the probe's; it has no directory */
	struct loop *loop;
	struct spool *spool;
	struct uplink *u;
	int fresh;
	bool sends_times; /* in each ACK, */
	int64_t ahead_ns; /* by a clock that is ahead by this */
	struct clock_item clock; /* the last one received */
	int clocks;
};

extern struct wire_dict play_dict[LAYOUT];

void play_open(struct play *s, size_t cap);
void play_again(struct play *s); /* opens another uplink, after uplink_close */
void play_close(struct play *s);
void play_bind(struct collector *c); /* binds the last address again, if there was one */
void play_turn(struct play *s); /* one tick of the probe, and reading all that arrives */
void play_settle(struct play *s); /* waits long enough for what should not arrive */
void play_meet(struct play *s);
void play_say(struct collector *c); /* sends c->frame to the peer of the last message */
void play_welcome(struct play *s, uint64_t event, uint64_t metric);
void play_mark(struct play *s, enum wire_type type, enum wire_stream stream, uint64_t mark);
void play_need_dict(struct play *s, uint64_t layout);
void play_append(struct play *s, enum wire_stream stream, int n, size_t len);
uint32_t play_count(const struct collector *c, enum wire_type type);

/* Waits until cond holds: a few seconds of real time at most, none of the probe's clock. */
#define UNTIL(s, cond)                                                                             \
	do {                                                                                       \
		for (int i_ = 0; i_ < 1000 && !(cond); i_++) {                                     \
			play_turn(s);                                                              \
			if (!(cond))                                                               \
				usleep(5000);                                                      \
		}                                                                                  \
		CHECK(cond);                                                                       \
	} while (0)

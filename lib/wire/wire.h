// SPDX-License-Identifier: Apache-2.0
/*
 * wire.h - the messages between a probe and the collector. docs/reference/wire.md is the reference.
 *
 * Every message is one frame, a positional msgpack array [version, type, ...]; a BATCH has a second
 * frame, a sequence of items. A later version may only append; a reader skips what it does not
 * know and refuses fewer fields. Decoders return 0, -EBADMSG, -EPROTONOSUPPORT or -ENOMEM, trust
 * nothing (tests/fuzz), and take memory only from the arena they are given. Encoders empty the
 * buffer first; wire_put_* append one item to a body.
 */
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/wire/item.h"

enum {
	WIRE_VERSION = 1,
	WIRE_MAX_FRAME = 1 << 20,
	WIRE_MAX_STATUS = 999, /* of HTTP */
	WIRE_MAX_ERROR = 4095, /* errno */
	WIRE_UP_FIELDS = 11, /* of one upstream try, at least; a path is the twelfth */
	WIRE_SHARE_FIELDS = 3,
	WIRE_CHECK_FIELDS = 2,
	WIRE_LOSS_FIELDS = 3,
	WIRE_EVIDENCE_FIELDS = 10,
	WIRE_LASTING_FIELDS = 3, /* more of an EVENT that lasts */
	WIRE_SEEN_FIELDS = 3,
	WIRE_JUDGED_FIELDS = 2, /* more of a RED whose excess is known */
	WIRE_PLACE_FIELDS = 6, /* of one place of a PLACE, at least */
	WIRE_WAY_FIELDS = 6, /* of one of a NAT, at least */
	WIRE_TAG_FIELDS = 6,
	WIRE_METRIC_FIELDS = 3, /* of one of a layout, at least */
	WIRE_ROLLED_FIELDS = 2,
	WIRE_SEEN_NODE_FIELDS = 2,
	WIRE_TIMES_FIELDS = 3, /* more of an ACK that answers a batch which says when it was sent */
	WIRE_SIGNAL_FIELDS = 9,
};

/* A century; whole numbers up to there are exact in what may be negative. */
#define WIRE_MAX_OFFSET_US 4e15

enum wire_type {
	WIRE_OTHER = 0, /* one that this version does not know: skip the message */
#define MESSAGE(id, name, fields) WIRE_##name = (id),
#include "schema/def/messages.def"
#undef MESSAGE
};

/* Each stream has its own sequence and mark, so metrics can be dropped before any event. */
enum wire_stream { STREAM_EVENT = 1, STREAM_METRIC = 2, STREAM_END = 3 };

struct wire_hello {
	const char *node; /* name of the node; its id is hash_node_id(node) */
	uint64_t epoch; /* random, of the process that made the batches */
	const char *machine; /* /etc/machine-id: tells two machines of one name apart */
	const char *version; /* of the probe */
	uint64_t wall_ns;
	const char *token; /* lets a new key in at once; NULL is "" */
	const char *next_key; /* the public key that this node goes on with; NULL is "" */
	const char *relay; /* the region that it brings all of; NULL or "": it is a node */
};

struct wire_welcome {
	uint64_t node_id, epoch;
	uint64_t mark[STREAM_END]; /* last stored seq of each stream; [0] unused */
	uint64_t wall_ns; /* the collector's clock when it answered */
};

enum metric_kind { METRIC_GAUGE = 0, METRIC_COUNTER = 1 /* delta since the last tick */ };

struct wire_metric {
	const char *name, *unit;
	uint8_t kind; /* enum metric_kind */
};

/* A layout: the ordered metrics of one entity kind. Its id is the hash of its content. */
struct wire_dict {
	uint64_t layout;
	const char *entity_kind; /* "node", "disk", "net" */
	uint32_t n;
	const struct wire_metric *metrics;
};

struct wire_need_dict {
	uint64_t layout;
};

/* ACK: everything up to mark is stored. NACK: send again from mark + 1. */
struct wire_mark {
	uint64_t node_id, epoch;
	uint8_t stream;
	uint64_t mark;
	/* of an ACK; sent_ns 0: unknown */
	uint64_t sent_ns; /* of a batch that it answers, as that one said */
	uint64_t received_ns, answered_ns; /* the collector's clock, when it came and now */
};

struct wire_batch_head {
	uint64_t node_id, epoch;
	uint8_t stream;
	uint64_t seq; /* starts at 1 in each stream of an epoch */
	uint64_t base_seq; /* nothing below this exists any more: dropped, and said so */
	uint64_t wall_ns; /* the tick */
	uint64_t sent_ns; /* the same clock, when it was sent; 0: unknown */
};

enum wire_why {
	WHY_UNKNOWN_KEY = 1, /* it waits for somebody to approve it */
	WHY_REVOKED = 2,
	WHY_OTHER_NODE = 3, /* the key is another node's */
	WHY_NAME_TAKEN = 4, /* the node has another key */
	WHY_TOKEN = 5, /* it is over, used up, another node's, or never was: waits as well */
	WHY_FULL = 6, /* too many wait */
	WHY_REGION = 7, /* the key was approved for another region, or for none */
};

/* The answer to a HELLO of whom nothing is taken. */
struct wire_refused {
	uint64_t node_id, epoch;
	uint8_t why; /* enum wire_why, or one of later */
	const char *known_as; /* the node that the key belongs to, or "" */
};

/* What a probe is to know about keys. */
struct wire_keys {
	uint64_t node_id, epoch;
	const char *collector; /* the public key that the collector goes on with, or "" */
	bool rotate; /* the node is to make itself a new key */
	const char *taken; /* the HELLO's next_key, once it may be used, or "" */
};

struct wire_body {
	struct sample_item *samples;
	struct red_item *reds;
	struct request_item *requests;
	struct source_item *sources;
	struct unread_item *unreads;
	struct stack_item *stacks;
	struct event_item *events;
	struct profile_item *profiles;
	struct place_item *places;
	struct origin_item *origins;
	struct region_item *regions;
	struct node_item *nodes;
	struct clock_item *clocks;
	struct incident_item *incidents;
	struct nat_item *nats;
	struct rollup_item *rollups;
	uint32_t nsamples, nreds, nrequests, nsources, nunreads, nstacks, nevents, nprofiles,
		nplaces, norigins, nregions, nnodes, nclocks, nincidents, nnats, nrollups;
	uint32_t nunknown; /* items of a kind this version does not know: skipped */
};

uint64_t wire_layout_id(const struct wire_dict *d);

void wire_hello_encode(struct buf *out, const struct wire_hello *h);
void wire_welcome_encode(struct buf *out, const struct wire_welcome *w);
void wire_dict_encode(struct buf *out, const struct wire_dict *d);
void wire_need_dict_encode(struct buf *out, const struct wire_need_dict *d);
void wire_mark_encode(struct buf *out, enum wire_type ack_or_nack, const struct wire_mark *m);
void wire_batch_head_encode(struct buf *out, const struct wire_batch_head *h);
void wire_refused_encode(struct buf *out, const struct wire_refused *r);
void wire_keys_encode(struct buf *out, const struct wire_keys *k);

void wire_put_sample(struct buf *body, const struct sample_item *s);
void wire_put_red(struct buf *body, const struct red_item *r);
void wire_put_request(struct buf *body, const struct request_item *r);
void wire_put_source(struct buf *body, const struct source_item *s);
void wire_put_unread(struct buf *body, const struct unread_item *u);
void wire_put_stack(struct buf *body, const struct stack_item *s);
void wire_put_event(struct buf *body, const struct event_item *e);
void wire_put_profile(struct buf *body, const struct profile_item *p);
void wire_put_place(struct buf *body, const struct place_item *p);
void wire_put_origin(struct buf *body, const struct origin_item *o);
void wire_put_region(struct buf *body, const struct region_item *r);
void wire_put_node(struct buf *body, const struct node_item *n);
void wire_put_nat(struct buf *body, const struct nat_item *n);
void wire_put_clock(struct buf *body, const struct clock_item *c);
void wire_put_incident(struct buf *body, const struct incident_item *i);
void wire_put_rollup(struct buf *body, const struct rollup_item *r);

int wire_type_of(const void *frame, size_t len, enum wire_type *type) MUST_CHECK;
int wire_hello_decode(struct arena *a, const void *f, size_t len, struct wire_hello *h) MUST_CHECK;
int wire_welcome_decode(const void *f, size_t len, struct wire_welcome *w) MUST_CHECK;
int wire_dict_decode(struct arena *a, const void *f, size_t len, struct wire_dict *d) MUST_CHECK;
int wire_need_dict_decode(const void *f, size_t len, struct wire_need_dict *d) MUST_CHECK;
int wire_mark_decode(const void *f, size_t len, struct wire_mark *m) MUST_CHECK;
int wire_batch_head_decode(const void *f, size_t len, struct wire_batch_head *h) MUST_CHECK;
int wire_refused_decode(struct arena *a, const void *f, size_t len,
			struct wire_refused *r) MUST_CHECK;
int wire_keys_decode(struct arena *a, const void *f, size_t len, struct wire_keys *k) MUST_CHECK;
int wire_body_decode(struct arena *a, const void *f, size_t len, struct wire_body *b) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
/*
 * item.h - what a batch carries: plain data, the same on both sides of the wire.
 *
 * Strings end in 0 and belong to the creator of the item (on the collector: the batch's arena).
 * Times are what their names say; a wall time is nanoseconds since 1970, UTC.
 * docs/reference/wire.md is the reference for the order of the fields.
 */
#pragma once

#include "lib/base/addr.h"

enum item_kind { /* each struct below says what it is */
#define ITEM(id, name, fields) ITEM_##name = (id),
#include "schema/def/messages.def"
#undef ITEM
};

enum {
	ITEM_MAX_VALUES = 128, /* metrics in one layout */
	ITEM_MAX_SLOTS = 40, /* RED histogram: slot i counts durations of (2^(i-1), 2^i] us */
	ITEM_MAX_PARAMS = 8,
	ITEM_MAX_UPS = 4,
	ITEM_MAX_PATH = 128,
	ITEM_MAX_NAME = 128,
	ITEM_MAX_TEXT = 256, /* why of a source, text of a parameter */
	ITEM_MAX_SHARES = 17, /* a share per part */
	ITEM_MAX_CHECKS = 32,
	ITEM_MAX_LOSSES = 10, /* two sides, five kinds */
	ITEM_MAX_EVIDENCE = 8,
	ITEM_MAX_FRAMES = 48, /* of a stack */
	ITEM_MAX_SEEN = 256, /* stacks in one item of a profile */
	ITEM_MAX_PLACES = 4096, /* of a node */
	ITEM_MAX_WAYS = 512, /* of a node, that addresses are translated by */
	ITEM_MAX_TAGS = 1024, /* of a node and its entities, with those of before */
	ITEM_MAX_SEEN_NODES = 4096,
	ITEM_MAX_SIGNALS = 256, /* of an incident */
	ITEM_MAX_LABEL = 1200, /* of a signal: a route, and whom it asked */
	ITEM_MAX_ROLLED = 256, /* entities of a rollup */
	ITEM_MAX_HOPS = 8, /* on the wire; the collector may allow fewer */
};

enum part { /* what time goes into */
#define PART(id, NAME, code, en, zh) PART_##NAME = (id),
#include "schema/def/parts.def"
#undef PART
};

enum { PART_END = PART_OTHER + 1 };

struct sample_item { /* the metrics of one entity at one tick */
	uint64_t layout;
	const char *entity; /* "" for the node itself, else "sda", "/a.slice", ...: a text */
	uint32_t n;
	const double *v; /* in the layout's order; NaN is "unavailable" */
};

enum red_role {
	RED_SERVER = 0,
	RED_CLIENT = 1,
	RED_OWN = 2, /* what a server did itself: its requests' times less their upstream calls */
	RED_SERVED = 3, /* its requests again, by who asked */
	RED_WAITED = 4, /* what they waited for a peer by another protocol than HTTP */
};

struct red_item { /* requests counted since the last such item */
	/* peer: the server's own port ":80", the upstream's addr, or the client's without its port
	 */
	const char *app, *route, *peer;
	uint8_t role; /* enum red_role */
	uint8_t status_class; /* 1..5; 0: closed without an answer */
	uint64_t count, sum_us;
	uint8_t lo; /* number of the first slot in b */
	uint32_t nb;
	const uint32_t *b;
	uint64_t excess_us, judged; /* over what is usual; of so many of them this is known */
};

struct param {
	const char *key;
	const char *text; /* NULL: a number */
	double number;
};

enum up_flag {
	UP_REUSED = 1, /* a kept-alive connection: no connect time */
	UP_NO_CONNECT = 2, /* refused, timed out, unreachable: error says which */
	UP_NO_ANSWER = 4, /* closed or given up before a status line came */
};

struct up_item {
	struct addr addr;
	uint64_t start_us; /* after the start of the request */
	uint64_t connect_us,
		response_us; /* response: from the start of this try to its last byte */
	uint16_t status; /* 0: none */
	uint16_t error; /* errno of the connection, 0: none */
	uint32_t retrans, srtt_us;
	uint32_t flags; /* enum up_flag */
	uint16_t local_port; /* the called host sees the call come from here; 0: never connected */
	const char *path; /* instead of addr: "unix:/run/app.sock"; NULL: there is an addr */
};

/* As an operator reads it: "10.0.0.1:80", "unix:/run/app.sock". */
static inline const char *up_addr_text(const struct up_item *u, char text[static ADDR_TEXT])
{
	return u->path ? u->path : addr_text(&u->addr, text);
}

struct share_item {
	uint8_t part; /* enum part */
	uint64_t us, normal_us; /* of this request; the route's median of this part */
};

struct check_item { /* a cause that was looked for */
	uint16_t reason; /* schema/def/reasons.def */
	const char *why; /* not checked, because; NULL: it was, and it is not the cause */
};

enum loss_kind { LOSS_SYN = 1, LOSS_FAST, LOSS_SLOW_START, LOSS_RTO, LOSS_TLP };

struct loss_item { /* segments sent again while the request was on its way */
	uint8_t side; /* 0: to the client; 1: to an upstream */
	uint8_t kind; /* enum loss_kind */
	uint32_t count;
};

/* What happened at that moment, as seen then: a long block, an offender. */
struct evidence_item {
	uint64_t start_ns; /* wall */
	uint64_t us;
	uint8_t part; /* enum part: what kind of wait (or of work) it was */
	uint32_t pid, tid;
	const char *comm; /* of the thread it happened to */
	const char *call; /* "fsync", "futex"; "": none, or not known */
	const char *what; /* file, device, address of a lock, cgroup; "": not known */
	const char *who; /* who had the CPU, held the lock: "comm[pid]", "irq"; "": not known */
	uint64_t stack; /* id of a STACK; 0: none */
};

struct stack_item { /* sent once; other items refer to it by id */
	uint64_t id; /* hash of the frames */
	uint8_t flags; /* 1: cut short, 2: of user space */
	uint32_t n;
	/* innermost first: "do_fsync+0x1a", "build-id+0x1f0a" */
	const char *frame[ITEM_MAX_FRAMES];
};

struct seen_stack { /* so many samples found both */
	uint64_t kernel, user; /* ids of STACKs; 0: none, or not known */
	uint32_t n;
};

struct profile_item { /* what an app did on CPUs, in a part of a minute */
	uint64_t start_ns; /* wall: when the minute began */
	uint32_t period_us; /* what one sample stands for */
	const char *app;
	uint32_t n;
	const struct seen_stack *seen;
};

enum event_severity { EVENT_INFO = 1, EVENT_WARNING = 2, EVENT_CRITICAL = 3 };

struct event_item { /* something else than a request that went wrong */
	uint64_t start_ns; /* wall */
	uint64_t us, error_us; /* how long it lasted, and how exactly that is known */
	const char *kind; /* "io.slow" */
	uint8_t severity; /* enum event_severity */
	uint32_t pid, tid;
	const char *comm;
	uint16_t reason;
	uint32_t nparams;
	struct param params[ITEM_MAX_PARAMS];
	uint32_t nevidence;
	struct evidence_item evidence[ITEM_MAX_EVIDENCE];
	/*
	 * An ongoing event is reported when it begins, again while it lasts, and when it is over,
	 * each time in full, with the same id and start_ns; us is the duration up to that report.
	 */
	uint64_t id; /* unique within node and process; 0: reported once, when over */
	uint32_t update; /* number of this report, from 1; 0: reported once */
	bool going_on;
};

enum request_flag {
	REQUEST_CLIENT_CLOSED = 1, /* the client closed before the answer began: status 499 */
	REQUEST_NO_ANSWER = 2, /* the server closed without an answer: status 0 */
	REQUEST_PIPELINED = 4, /* sent before the last answer: times are not reliable */
	REQUEST_UPSTREAM_UNKNOWN = 8, /* its own upstream calls cannot be identified */
	REQUEST_PATH_CUT = 16,
	REQUEST_UPS_CUT = 32, /* more upstream tries than ups[] holds: the last one replaced */
	REQUEST_BY_FIRST = 64, /* judged by the first byte of its answer, not by the last */
};

struct request_item { /* one abnormal request */
	uint64_t start_ns; /* wall: the request's first byte was read */
	const char *app, *comm;
	uint32_t pid, tid;
	struct addr remote, local;
	const char *method, *path, *route; /* path without query string unless configured */
	uint32_t flags; /* enum request_flag */
	uint16_t status;
	uint64_t request_us; /* first read to last byte of the answer */
	uint64_t first_us; /* first read to first byte of the answer, if one came; stays on the node
			    */
	uint64_t queue_us; /* arrival to first read */
	uint64_t bytes_in, bytes_out;
	uint64_t normal_us, limit_us; /* the route's p50, and what it was judged by */
	uint32_t retrans, srtt_us, rcv_ooo; /* of the client's connection, over the request */
	uint16_t reason; /* schema/def/reasons.def */
	uint32_t nparams;
	struct param params[ITEM_MAX_PARAMS];
	uint32_t nups;
	struct up_item ups[ITEM_MAX_UPS];
	uint32_t nshares; /* 0: where the time went was not measured */
	struct share_item shares[ITEM_MAX_SHARES];
	uint32_t nchecks;
	struct check_item checks[ITEM_MAX_CHECKS];
	uint32_t nlosses;
	struct loss_item losses[ITEM_MAX_LOSSES];
	uint32_t nevidence;
	struct evidence_item evidence[ITEM_MAX_EVIDENCE];
	/* by which ids it goes, as its client said; NULL: by none that is known */
	const char *trace; /* of a traceparent: "TRACE-PARENT", 32 and 16 digits of hex */
	const char *sent_id; /* X-Request-Id */
};

enum source_state { SOURCE_OFF = 0, SOURCE_ATTACHED = 1, SOURCE_THROTTLED = 2 };

struct source_item { /* what became of a source of the probe */
	const char *name;
	uint8_t state; /* enum source_state */
	const char *why; /* "" when attached */
};

struct unread_item { /* connections seen and not read */
	const char *app;
	const char *kind; /* "tls", "http2", "upgraded", "pipelined" */
	uint64_t count;
};

enum place_kind {
	PLACE_ADDRESS = 1, /* of an interface */
	PLACE_LISTENER = 2, /* where an app takes connections; 0.0.0.0 and :: are all addresses */
	PLACE_CONTAINER = 3, /* an address in another network namespace of the node */
	PLACE_FORWARD = 4, /* a port of the node that leads to an app in a container */
};

struct place { /* what an address is on this node */
	uint8_t kind; /* enum place_kind */
	struct addr addr; /* port 0: any */
	const char *app; /* who listens; "": not known */
	uint64_t netns; /* inode of the network namespace; 0: the node's own */
	bool gone; /* it is so no more */
};

struct place_item {
	bool whole; /* what is not among these is so no more, either */
	uint32_t left_out; /* not sent: too many */
	uint32_t n;
	struct place *places;
};

enum way_kind {
	WAY_TO = 1, /* who calls the one reaches the other: a service address, a port of docker's */
	WAY_FROM = 2, /* what comes from the other is seen as if it came from the one */
};

struct nat_way { /* how this node translates addresses (NAT), of connections that it passed on */
	uint8_t kind; /* enum way_kind */
	struct addr seen, real; /* of WAY_FROM without ports */
	uint64_t netns; /* inode of the network namespace; 0: the node's own */
};

struct nat_item { /* all that there are; none: none */
	uint32_t left_out; /* not sent: too many, or not readable */
	uint32_t n;
	struct nat_way *ways;
};

/* The first item of a batch that a relay brings: whose batch all that follows it was. */
struct origin_item {
	uint64_t node, epoch;
	uint8_t stream;
	uint64_t seq;
	const char *name; /* of the node */
	uint32_t hops; /* regions that it came through, the first is the node's own */
	const char *region[ITEM_MAX_HOPS];
};

struct seen_node {
	uint64_t node, ms; /* ms of the wall */
};

struct region_item { /* a relay speaks of itself: all of its region up to this batch's tick */
	const char *name, *console; /* where the region's own console is, or "" */
	uint32_t nseen; /* nodes that were heard there a moment ago */
	const struct seen_node *seen;
};

struct tag_item {
	uint64_t entity; /* 0: the node itself */
	const char *key, *value, *said_by;
	uint64_t since_us, until_us; /* of the wall; until 0: it holds */
};

struct clock_item { /* how far the node's clock is off: added to its times it makes the collector's
		     */
	uint64_t since_ns; /* wall of the node: it is so of what it dated from then on */
	int64_t offset_us;
	uint64_t uncertainty_us; /* not more than this from the truth */
};

struct node_item { /* what is known of the node of an ORIGIN, as a whole */
	const char *name, *machine, *version;
	uint64_t first_ns; /* wall */
	uint32_t ntags;
	const struct tag_item *tags;
};

struct signal_item { /* what went wrong on one node in one way; a part of an incident */
	uint64_t node;
	const char *app, *route, *class;
	uint16_t reason; /* of the worst */
	uint64_t first_us, last_us, n, excess_us;
};

struct incident_item { /* an incident of a region as it is now, as a whole */
	uint64_t id, onset_us, last_us, opened_us; /* of the wall */
	uint64_t closed_us; /* 0: it is open */
	uint64_t into; /* it is a part of that one now; 0: it is one itself */
	uint64_t first_host; /* the node that is ranked first; 0: none, or one without a probe */
	const char *text; /* its title */
	uint32_t hops; /* regions that it came through, the first is its own */
	const char *region[ITEM_MAX_HOPS];
	uint32_t nsignals;
	const struct signal_item *signals;
};

struct rolled_entity {
	uint64_t id;
	const char *name;
};

struct wire_metric;

/*
 * The per-minute samples of one layout's entities, of an ORIGIN's node, for an hour or part of it.
 */
struct rollup_item {
	uint64_t hour_s; /* of the wall, when it began */
	uint32_t part; /* of that hour, see docs/reference/wire.md */
	bool whole; /* replaces everything sent for that hour */
	const char *kind; /* of the entities */
	uint64_t layout; /* not on the wire: id of these metrics, as received */
	uint32_t nmetrics, nentities;
	const struct wire_metric *metrics;
	const struct rolled_entity *entities; /* in the chunk's order */
	const void *chunk; /* docs/reference/chunk.md; read, it is in the frame */
	size_t chunk_len;
};

// SPDX-License-Identifier: Apache-2.0
/*
 * web_seats.h - counts the connections that the HTTP server holds, and refuses those over a limit.
 *
 * A connection takes a seat once the whole head of its first request is here. Seats are limited in
 * total and per client: the address, or the user at the other end of a Unix socket. Queries and
 * streams have limits of their own. Some seats are held back for the console's pages and /healthz.
 * If no seat is free, the connection that has waited longest for its next request is ended.
 *
 * Any thread may call. A seat is valid from web_seats_open to web_seats_leave, which come on the
 * server's thread.
 */
#pragma once

#include "lib/base/base.h"

enum web_use {
	WEB_USE_ENTERING, /* handed to the server, which has not opened it yet */
	WEB_USE_WAITING, /* for the rest of a request, or for the next one */
	WEB_USE_QUERY, /* the database works for it */
	WEB_USE_STREAM,
	WEB_USE_SENDING,
};

enum web_refusal {
	WEB_ADMITTED,
	WEB_HEAD_LATE, /* the head was not complete in time */
	WEB_HEAD_LONG,
	WEB_HEAD_YIELDED, /* it was not complete when others needed the place */
	WEB_CLIENT_SEATS,
	WEB_ALL_SEATS,
	WEB_CLIENT_QUERIES,
	WEB_ALL_QUERIES,
	WEB_CLIENT_STREAMS,
	WEB_ALL_STREAMS,
	WEB_IDLE, /* ended while it waited for a request, as others needed the place */
	WEB_SLOW_READER, /* ended because it did not read its answer */
	WEB_REFUSALS
};

struct web_client {
	uint8_t key[20]; /* family, then the address or the user */
};

struct web_limits {
	unsigned seats, held_back; /* held_back: in addition to seats */
	unsigned client_seats, queries, client_queries, streams, client_streams;
	unsigned heads, client_heads; /* connections without a whole head */
};

/* Limits that fit into this many descriptors, of which the console takes at most a half. */
struct web_limits web_limits_for(uint64_t descriptors);

struct web_seats;
struct web_seat;

struct web_seats *web_seats_new(struct web_limits limits);
void web_seats_free(struct web_seats *s); /* NULL is fine */
const struct web_limits *web_seats_limits(const struct web_seats *s);

/* page: it asks for a page of the console or for /healthz, and may take a seat that is held back.
 */
enum web_refusal web_seats_enter(struct web_seats *s, int fd, const struct web_client *c, bool page,
				 uint64_t now_ns);
struct web_seat *web_seats_open(struct web_seats *s, int fd, uint64_t now_ns); /* NULL: unknown */
void web_seats_leave(struct web_seats *s, struct web_seat *seat); /* before fd is closed */
void web_seats_withdraw(struct web_seats *s, int fd); /* the server did not take it */

/* Changes the use. A query or a stream over its limit is refused, and the use stays. Without a seat
 * (NULL) no limit applies. */
enum web_refusal web_seats_use(struct web_seats *s, struct web_seat *seat, enum web_use use,
			       uint64_t now_ns);
/* Whether the connection must close after its answer, because it has a seat that is held back. */
bool web_seats_is_held_back(struct web_seats *s, const struct web_seat *seat);

/* Ends connections that wait for a request or read their answer for too long. */
void web_seats_sweep(struct web_seats *s, uint64_t now_ns);

void web_seats_count(struct web_seats *s, enum web_refusal why);
uint64_t web_seats_refused(struct web_seats *s, enum web_refusal why);
unsigned web_seats_taken(struct web_seats *s);

/* For metrics: "head_late". For clients: a status and a sentence. */
const char *web_refusal_name(enum web_refusal why);
unsigned web_refusal_status(enum web_refusal why);
const char *web_refusal_text(enum web_refusal why);

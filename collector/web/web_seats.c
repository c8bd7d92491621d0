// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_seats.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define S_NS 1000000000ull

enum { SEATS = 1000, HELD_BACK = 32, HEADS = 256, OTHERS = 32, LEAST = 16 };
enum { WAIT_S = 15, SEND_S = 300, HELD_BACK_S = 2, ENTER_S = 60 };

struct web_seat {
	int fd;
	enum web_use use;
	bool taken, held_back, ended; /* ended: shut down, not closed yet */
	uint64_t since_ns; /* of its use */
	struct web_client client;
};

struct web_seats {
	pthread_mutex_t lock;
	struct web_limits limits;
	atomic_ullong refused[WEB_REFUSALS];
	unsigned size;
	struct web_seat seat[];
};

static const struct {
	const char *name;
	unsigned status;
	const char *text;
} refusals[WEB_REFUSALS] = {
	[WEB_HEAD_LATE] = { "head_late", 408,
			    "The request was not complete after 10 seconds; send it again." },
	[WEB_HEAD_LONG] = { "head_long", 431, "The head of the request is longer than 16 KiB." },
	[WEB_HEAD_YIELDED] = { "head_yielded", 503,
			       "Too many connections wait for the rest of a request; send whole "
			       "requests at once." },
	[WEB_CLIENT_SEATS] = { "client_connections", 429,
			       "This client has too many connections to the console; close some." },
	[WEB_ALL_SEATS] = { "connections", 503,
			    "The console has too many connections; try again in a moment." },
	[WEB_CLIENT_QUERIES] = { "client_queries", 429,
				 "This client has too many queries under way; try again in a "
				 "moment." },
	[WEB_ALL_QUERIES] = { "queries", 503,
			      "Too many queries are waiting for the database; try again in a "
			      "moment." },
	[WEB_CLIENT_STREAMS] = { "client_streams", 429,
				 "This client has too many streams open; close some pages." },
	[WEB_ALL_STREAMS] = { "streams", 503, "Too many streams are open; close some pages." },
	[WEB_IDLE] = { "idle", 408, "The connection waited while others needed its place." },
	[WEB_SLOW_READER] = { "slow_reader", 408, "The answer was not read in time." },
};

const char *web_refusal_name(enum web_refusal why)
{
	return refusals[why].name;
}

unsigned web_refusal_status(enum web_refusal why)
{
	return refusals[why].status;
}

const char *web_refusal_text(enum web_refusal why)
{
	return refusals[why].text;
}

struct web_limits web_limits_for(uint64_t descriptors)
{
	uint64_t room = descriptors / 2, want = SEATS + HELD_BACK + HEADS + OTHERS;
	unsigned seats = SEATS, heads = HEADS;

	if (room < want) {
		heads = (unsigned)(room / 5);
		seats = room > heads + HELD_BACK + OTHERS
				? (unsigned)(room - heads - HELD_BACK - OTHERS)
				: 0;
	}
	seats = seats < LEAST ? LEAST : seats;
	heads = heads < LEAST ? LEAST : heads;
	return (struct web_limits){
		.seats = seats,
		.held_back = HELD_BACK,
		.client_seats = seats * 3 / 4,
		.queries = seats < 128 ? seats : 128,
		.client_queries = seats < 64 ? seats * 3 / 4 : 48,
		.streams = seats * 7 / 10,
		.client_streams = seats * 6 / 10,
		.heads = heads,
		.client_heads = heads * 3 / 4,
	};
}

/* Seats that were ended stay until the server closes them, so there are more than may be taken. */
struct web_seats *web_seats_new(struct web_limits limits)
{
	unsigned size = (limits.seats + limits.held_back) * 2;
	struct web_seats *s = calloc(1, sizeof(*s) + size * sizeof(s->seat[0]));

	if (!s)
		return NULL;
	s->limits = limits;
	s->size = size;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void web_seats_free(struct web_seats *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const struct web_limits *web_seats_limits(const struct web_seats *s)
{
	return &s->limits;
}

static bool is_same(const struct web_client *a, const struct web_client *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void end_seat(struct web_seat *seat)
{
	seat->ended = true;
	shutdown(seat->fd, SHUT_RDWR);
}

struct counts {
	unsigned all, client, held_back;
};

static struct counts count_seats(const struct web_seats *s, const struct web_client *c)
{
	struct counts n = { 0 };

	for (unsigned i = 0; i < s->size; i++) {
		const struct web_seat *seat = &s->seat[i];

		if (!seat->taken || seat->ended)
			continue;
		n.held_back += seat->held_back;
		n.all += !seat->held_back;
		n.client += !seat->held_back && is_same(&seat->client, c);
	}
	return n;
}

/* Ends the connection that has been in this use for longest: of this client, or of any (NULL). */
static bool end_oldest(struct web_seats *s, enum web_use use, bool held_back,
		       const struct web_client *c, uint64_t before_ns)
{
	struct web_seat *oldest = NULL;

	for (unsigned i = 0; i < s->size; i++) {
		struct web_seat *seat = &s->seat[i];

		if (!seat->taken || seat->ended || seat->use != use ||
		    seat->held_back != held_back || seat->since_ns > before_ns ||
		    (c && !is_same(&seat->client, c)))
			continue;
		if (!oldest || seat->since_ns < oldest->since_ns)
			oldest = seat;
	}
	if (!oldest)
		return false;
	end_seat(oldest);
	web_seats_count(s, use == WEB_USE_WAITING ? WEB_IDLE : WEB_SLOW_READER);
	return true;
}

static bool make_held_back_room(struct web_seats *s, unsigned taken, uint64_t now_ns)
{
	uint64_t before = now_ns > HELD_BACK_S * S_NS ? now_ns - HELD_BACK_S * S_NS : 0;

	return taken < s->limits.held_back || end_oldest(s, WEB_USE_WAITING, true, NULL, now_ns) ||
	       end_oldest(s, WEB_USE_SENDING, true, NULL, before);
}

static enum web_refusal take_seat(struct web_seats *s, int fd, const struct web_client *c,
				  bool held_back, uint64_t now_ns)
{
	for (unsigned i = 0; i < s->size; i++) {
		if (s->seat[i].taken)
			continue;
		s->seat[i] = (struct web_seat){ .fd = fd,
						.taken = true,
						.held_back = held_back,
						.since_ns = now_ns,
						.client = *c };
		return WEB_ADMITTED;
	}
	return WEB_ALL_SEATS;
}

static enum web_refusal find_room(struct web_seats *s, const struct web_client *c, uint64_t now_ns)
{
	struct counts n = count_seats(s, c);

	if (n.client >= s->limits.client_seats && !end_oldest(s, WEB_USE_WAITING, false, c, now_ns))
		return WEB_CLIENT_SEATS;
	if (n.all >= s->limits.seats && !end_oldest(s, WEB_USE_WAITING, false, NULL, now_ns))
		return WEB_ALL_SEATS;
	return WEB_ADMITTED;
}

enum web_refusal web_seats_enter(struct web_seats *s, int fd, const struct web_client *c, bool page,
				 uint64_t now_ns)
{
	enum web_refusal why;
	bool held_back = false;

	pthread_mutex_lock(&s->lock);
	why = find_room(s, c, now_ns);
	if (why && page && make_held_back_room(s, count_seats(s, c).held_back, now_ns)) {
		held_back = true;
		why = WEB_ADMITTED;
	}
	if (!why)
		why = take_seat(s, fd, c, held_back, now_ns);
	pthread_mutex_unlock(&s->lock);
	if (why)
		web_seats_count(s, why);
	return why;
}

/* The seat of a descriptor that was handed over; the caller has the lock. */
static struct web_seat *find_entering(struct web_seats *s, int fd)
{
	for (unsigned i = 0; i < s->size; i++)
		if (s->seat[i].taken && s->seat[i].use == WEB_USE_ENTERING && s->seat[i].fd == fd)
			return &s->seat[i];
	return NULL;
}

struct web_seat *web_seats_open(struct web_seats *s, int fd, uint64_t now_ns)
{
	struct web_seat *seat;

	pthread_mutex_lock(&s->lock);
	seat = find_entering(s, fd);
	if (seat) {
		seat->use = WEB_USE_WAITING;
		seat->since_ns = now_ns;
	}
	pthread_mutex_unlock(&s->lock);
	return seat;
}

void web_seats_withdraw(struct web_seats *s, int fd)
{
	struct web_seat *seat;

	pthread_mutex_lock(&s->lock);
	seat = find_entering(s, fd);
	if (seat)
		seat->taken = false;
	pthread_mutex_unlock(&s->lock);
}

void web_seats_leave(struct web_seats *s, struct web_seat *seat)
{
	pthread_mutex_lock(&s->lock);
	seat->taken = false;
	pthread_mutex_unlock(&s->lock);
}

static enum web_refusal refuse_use(const struct web_seats *s, const struct web_seat *seat,
				   enum web_use use)
{
	bool stream = use == WEB_USE_STREAM;
	unsigned all = stream ? s->limits.streams : s->limits.queries, n = 0;
	unsigned client = stream ? s->limits.client_streams : s->limits.client_queries, own = 0;

	for (unsigned i = 0; i < s->size; i++) {
		const struct web_seat *other = &s->seat[i];

		if (!other->taken || other->use != use || other == seat)
			continue;
		n++;
		own += is_same(&other->client, &seat->client);
	}
	if (own >= client)
		return stream ? WEB_CLIENT_STREAMS : WEB_CLIENT_QUERIES;
	if (n >= all)
		return stream ? WEB_ALL_STREAMS : WEB_ALL_QUERIES;
	return WEB_ADMITTED;
}

enum web_refusal web_seats_use(struct web_seats *s, struct web_seat *seat, enum web_use use,
			       uint64_t now_ns)
{
	enum web_refusal why = WEB_ADMITTED;

	if (!seat)
		return why;
	pthread_mutex_lock(&s->lock);
	if (use == WEB_USE_QUERY || use == WEB_USE_STREAM)
		why = refuse_use(s, seat, use);
	if (!why) {
		seat->use = use;
		seat->since_ns = now_ns;
	}
	pthread_mutex_unlock(&s->lock);
	if (why)
		web_seats_count(s, why);
	return why;
}

bool web_seats_is_held_back(struct web_seats *s, const struct web_seat *seat)
{
	bool held_back;

	if (!seat)
		return false;
	pthread_mutex_lock(&s->lock);
	held_back = seat->held_back;
	pthread_mutex_unlock(&s->lock);
	return held_back;
}

void web_seats_sweep(struct web_seats *s, uint64_t now_ns)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->size; i++) {
		struct web_seat *seat = &s->seat[i];
		uint64_t age_ns = now_ns > seat->since_ns ? now_ns - seat->since_ns : 0;

		if (!seat->taken || seat->ended)
			continue;
		if (seat->use == WEB_USE_WAITING && age_ns > WAIT_S * S_NS) {
			end_seat(seat);
		} else if (seat->use == WEB_USE_SENDING && age_ns > SEND_S * S_NS) {
			end_seat(seat);
			web_seats_count(s, WEB_SLOW_READER);
		} else if (seat->use == WEB_USE_ENTERING && age_ns > ENTER_S * S_NS) {
			seat->taken = false; /* the server could not open it */
		}
	}
	pthread_mutex_unlock(&s->lock);
}

void web_seats_count(struct web_seats *s, enum web_refusal why)
{
	atomic_fetch_add(&s->refused[why], 1);
}

uint64_t web_seats_refused(struct web_seats *s, enum web_refusal why)
{
	return atomic_load(&s->refused[why]);
}

unsigned web_seats_taken(struct web_seats *s)
{
	unsigned n = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->size; i++)
		n += s->seat[i].taken;
	pthread_mutex_unlock(&s->lock);
	return n;
}

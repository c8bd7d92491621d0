// SPDX-License-Identifier: Apache-2.0
/* Lost segments and failed connects, and when they become an event: scenes of half seconds. */
#include "lib/base/arena.h"
#include "lib/wire/reason.h"
#include "probe/source/tcp/tcp_watch.h"
#include "tests/lib/test.h"

#define S 1000000000ull
#define WALL (1700000000ull * S)

enum { TICK_MS = 500 };

static struct tcp_watch watch;
static uint64_t now_ns;
static struct arena *arena;
static struct wire_body sent;

static void begin(enum tcp_trouble_kind kind)
{
	if (!arena)
		arena = arena_new(1 << 20);
	tcp_watch_init(&watch, kind);
	now_ns = 1000 * S;
}

/* Half a second with n of `of`; NULL: no event was sent. */
static const struct event_item *tick(uint64_t n, uint64_t of)
{
	struct sink out = { 0 };
	bool much = tcp_watch_suspicious(&watch, n, TICK_MS / 1000.0);

	now_ns += TICK_MS * S / 1000;
	arena_reset(arena);
	tcp_watch_step(&watch, n, of, much, now_ns, WALL + now_ns, &out);
	CHECK_EQ(wire_body_decode(arena, out.event.data, out.event.len, &sent), 0);
	buf_free(&out.event);
	buf_free(&out.metric);
	CHECK(sent.nevents <= 1);
	return sent.nevents ? &sent.events[0] : NULL;
}

static const struct event_item *until(double seconds, uint64_t n, uint64_t of)
{
	const struct event_item *e = NULL;

	for (int i = 0; !e && i < (int)(seconds * 1000 / TICK_MS); i++)
		e = tick(n, of);
	return e;
}

static void put(const char *app, const char *ip, enum tcp_fault fault, uint64_t n)
{
	struct tcp_worst w = { .fault = fault, .dev = "eth0", .n = n };

	snprintf(w.app, sizeof(w.app), "%s", app);
	w.peer = addr_make((const uint8_t[]){ 10, 0, 0, (uint8_t)ip[0] }, 4, 80);
	tcp_watch_add(&watch, &w);
}

static const char *text(const struct event_item *e, const char *key)
{
	for (uint32_t i = 0; e && i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return e->params[i].text ? e->params[i].text : "(number)";
	return "(none)";
}

/* Every name in the event's sentence is a parameter. */
static void check_sentence(const struct event_item *e)
{
	for (const char *s = strchr(reason_find(e->reason)->en, '{'); s; s = strchr(s + 1, '{')) {
		AUTO_FREE char *key = strndup(s + 1, strcspn(s + 1, "}"));

		CHECK(strcmp(text(e, key), "(none)") != 0);
	}
}

TEST(lost_segments_are_one_event_while_they_last)
{
	const struct event_item *e;
	uint64_t id, start_ns;

	begin(TROUBLE_RETRANSMIT);
	CHECK(!until(60, 1, 2000));
	start_ns = now_ns;
	put("web", "\2", TCP_AGAIN, 5);
	put("web", "\3", TCP_AGAIN, 50);
	put("web", "\2", TCP_AGAIN, 5);
	CHECK(!tick(100, 0)); /* suspicious; the share is not known yet */
	e = until(2.5, 100, 1000);
	CHECK(e != NULL);
	if (!e)
		return;
	CHECK_STR(e->kind, "net.retransmits");
	CHECK_EQ(e->reason, R_NET_RETRANSMITS);
	CHECK(e->going_on && e->update == 1);
	CHECK_EQ(e->start_ns, WALL + start_ns);
	CHECK_STR(e->comm, "web");
	CHECK_STR(text(e, "peer"), "10.0.0.3:80");
	CHECK_STR(text(e, "dev"), "eth0");
	CHECK_EQ(e->nevidence, 2);
	CHECK_STR(e->evidence[1].what, "10.0.0.2:80 on eth0: 10 sent again");
	check_sentence(e);
	id = e->id;
	e = until(40, 100, 1000);
	CHECK(e && e->id == id && e->update == 2 && e->going_on);
	e = until(12, 0, 1000);
	CHECK(e && e->id == id && e->update == 3 && !e->going_on);
	CHECK(!until(60, 1, 2000));
	e = until(3, 100, 1000); /* back soon: the same event */
	CHECK(e && e->id == id && e->update == 4 && e->going_on);
}

TEST(few_losses_a_small_share_or_the_usual_share_are_no_event)
{
	begin(TROUBLE_RETRANSMIT);
	CHECK(!until(60, 4, 8)); /* half of them, but only 8 a second */
	CHECK(!until(60, 30, 1000));
	begin(TROUBLE_CONNECT);
	CHECK(!until(60, 2, 2));
	CHECK(!until(60, 40, 200));
}

TEST(refused_connections_are_reported_as_such)
{
	const struct event_item *e;

	begin(TROUBLE_CONNECT);
	put("app", "\7", TCP_TIMED_OUT, 3);
	put("app", "\7", TCP_REFUSED, 30);
	e = until(3, 20, 25);
	CHECK(e != NULL);
	if (!e)
		return;
	CHECK_STR(e->kind, "net.connect");
	CHECK_STR(text(e, "error"), "refused");
	CHECK_STR(e->evidence[0].what, "10.0.0.7:80 on eth0: 30 refused");
	check_sentence(e);
	CHECK(until(12, 0, 10));
	CHECK(!watch.episode.open);
}

TEST(the_worst_peers_stay_when_the_table_is_full)
{
	const struct event_item *e;
	char ip[2] = { 0 };

	begin(TROUBLE_CONNECT);
	for (int i = 1; i <= 2 * TCP_WATCHED; i++) {
		ip[0] = (char)i;
		put("app", ip, TCP_REFUSED, (uint64_t)i);
	}
	e = until(3, 20, 25);
	CHECK_STR(text(e, "peer"), "10.0.0.64:80");
}

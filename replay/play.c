// SPDX-License-Identifier: Apache-2.0
#include "replay/play.h"

#include <inttypes.h>

#include "lib/base/log.h"
#include "lib/uplink/uplink.h"
#include "replay/clock.h"
#include "replay/host.h"
#include "replay/summary.h"

#define SEC 1000000000ull
#define TICK_NS (2 * SEC)
#define PATIENCE_NS (30 * SEC)

enum {
	FLUSH_TICKS = 5, /* as in the probe: how often counts of known keys are sent */
	STEP_MS = 2,
	WAITING = 8, /* batches: four ticks of two streams */
};

struct window {
	uint32_t name;
	size_t first, n;
	uint64_t begin_ns, end_ns; /* as recorded */
};

struct player {
	struct recording *r;
	const struct play_config *cfg;
	struct endpoints collectors;
	struct loop *loop;
	struct window *window;
	size_t nwindows;
	size_t *list, nlist, room; /* windows to play */
	struct host **host; /* by name; NULL: this one only asks or is asked */
	uint32_t *number; /* by name: number in its address */
	uint32_t nhosts, nothers;
	size_t at, next; /* index in the list, and in the records of that window */
	uint64_t base_ns; /* where the window begins in replay time */
	uint64_t now_ns, length_ns, tick, began_ns, asked_ns;
	bool over;
	char *why;
};

static uint64_t length_of(const struct window *w)
{
	return (w->end_ns - w->begin_ns) / TICK_NS * TICK_NS + TICK_NS;
}

static void find_windows(struct player *p)
{
	const struct recording *r = p->r;

	p->window = calloc(r->n, sizeof(*p->window)); /* upper bound */
	if (!p->window)
		die("out of memory");
	for (size_t i = 0; i < r->n; i++) {
		const struct record *q = &r->record[i];
		struct window *w = p->nwindows ? &p->window[p->nwindows - 1] : NULL;

		if (!w || w->name != q->window) {
			w = &p->window[p->nwindows++];
			*w = (struct window){ q->window, i, 0, q->start_ns, q->end_ns };
		}
		w->n++;
		w->begin_ns = q->start_ns < w->begin_ns ? q->start_ns : w->begin_ns;
		w->end_ns = q->end_ns;
	}
}

static void put_on(struct player *p, size_t window)
{
	if (p->nlist == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		p->list = reallocarray(p->list, p->room, sizeof(*p->list));
		if (!p->list)
			die("out of memory");
	}
	p->list[p->nlist++] = window;
	p->length_ns += length_of(&p->window[window]);
}

/* "NAME" or "NAME*3" */
static int take_word(struct player *p, char *word)
{
	char *times = strrchr(word, '*'), *end = NULL;
	long n = times ? strtol(times + 1, &end, 10) : 1;
	size_t i = 0;

	if (times && (n < 1 || n > 10000 || *end)) {
		snprintf(p->why, CSV_WHY, "--play: \"%.60s\" is not NAME*TIMES", word);
		return -EINVAL;
	}
	if (times)
		*times = 0;
	while (i < p->nwindows && strcmp(p->r->name[p->window[i].name], word) != 0)
		i++;
	if (i == p->nwindows) {
		snprintf(p->why, CSV_WHY, "--play: no window is called \"%.60s\"", word);
		return -EINVAL;
	}
	while (n--)
		put_on(p, i);
	return 0;
}

static int make_list(struct player *p)
{
	AUTO_FREE char *words = p->cfg->windows ? strdup(p->cfg->windows) : NULL;
	char *save, *word;
	int r = 0;

	for (size_t i = 0; !words && i < p->nwindows; i++)
		put_on(p, i);
	for (word = words ? strtok_r(words, ",", &save) : NULL; word && r == 0;
	     word = strtok_r(NULL, ",", &save))
		r = take_word(p, word);
	return r;
}

/* 198.18/15 is reserved for measurements: no real node has such an address. */
static struct addr addr_of(const struct player *p, uint32_t name, uint16_t port)
{
	uint32_t n = p->number[name];
	uint8_t ip[4] = { 198, (uint8_t)(18 + (n >> 16 & 1)), (uint8_t)(n >> 8), (uint8_t)n };

	return p->host[name] ? host_addr(n, port) : addr_make(ip, sizeof(ip), port);
}

static int open_host(struct player *p, uint32_t name)
{
	const struct host_config cfg = { .name = p->r->name[name],
					 .number = p->nhosts,
					 .collectors = &p->collectors,
					 .keys = p->cfg->keys,
					 .collector_key = p->cfg->collector_key,
					 .token = p->cfg->token,
					 .loop = p->loop,
					 .slow_ms = p->cfg->slow_ms };
	char text[ADDR_TEXT];
	struct addr a;
	int r;

	if (p->nhosts == REPLAY_HOSTS_MAX) {
		snprintf(p->why, CSV_WHY, "more than %d hosts are recorded", REPLAY_HOSTS_MAX);
		return -E2BIG;
	}
	r = host_open(&p->host[name], &cfg, p->why);
	if (r < 0)
		return r;
	a = host_addr(p->nhosts, 0);
	p->number[name] = p->nhosts++;
	printf("host %s %s\n", cfg.name, addr_ip_text(&a, text));
	return 0;
}

static int open_hosts(struct player *p)
{
	int r = 0;

	p->host = calloc(p->r->nnames, sizeof(struct host *));
	p->number = calloc(p->r->nnames, sizeof(*p->number));
	if (!p->host || !p->number)
		die("out of memory");
	for (size_t i = 0; i < p->r->n && r == 0; i++)
		if (!p->host[p->r->record[i].host])
			r = open_host(p, p->r->record[i].host);
	for (uint32_t i = 0; i < p->r->nnames; i++)
		if (!p->host[i])
			p->number[i] = ++p->nothers;
	return r;
}

static void play_one(struct player *p, const struct record *q, uint64_t wall_ns)
{
	static const struct addr none;
	struct host *h = p->host[q->host];

	switch ((enum record_kind)q->kind) {
	case RECORD_REQUEST:
		host_request(h, p->r, q, addr_of(p, q->other, 0),
			     q->longest == NOBODY ? none : addr_of(p, q->longest, 80), wall_ns);
		break;
	case RECORD_CALL:
		host_call(h, p->r, q, addr_of(p, q->other, 80), wall_ns);
		break;
	case RECORD_EVENT:
		host_event(h, p->r, q, wall_ns);
		break;
	}
}

static void print_window(const struct player *p, const struct window *w)
{
	printf("window %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       *p->r->name[w->name] ? p->r->name[w->name] : "-", p->base_ns / 1000,
	       (p->base_ns + length_of(w)) / 1000, w->begin_ns / 1000);
	fflush(stdout);
}

static void play_records(struct player *p, const struct window *w, uint64_t until_ns)
{
	for (; p->next < w->n; p->next++) {
		const struct record *q = &p->r->record[w->first + p->next];
		uint64_t wall_ns = q->end_ns - w->begin_ns + p->base_ns;

		if (wall_ns >= until_ns)
			break;
		play_one(p, q, wall_ns);
	}
}

/*
 * Plays the records that end within the next two seconds, and ends the tick; the last tick flushes
 * everything.
 */
static void play_tick(struct player *p)
{
	const struct window *w = &p->window[p->list[p->at]];
	uint64_t until_ns = p->now_ns + TICK_NS;
	bool ends = until_ns >= p->base_ns + length_of(w);

	if (p->now_ns == p->base_ns)
		print_window(p, w);
	play_records(p, w, until_ns);
	p->now_ns = until_ns;
	clock_set_wall(until_ns);
	p->over = ends && p->at + 1 == p->nlist;
	for (uint32_t i = 0; i < p->r->nnames; i++)
		if (p->host[i])
			host_tick(p->host[i], until_ns, p->over || p->tick % FLUSH_TICKS == 0);
	p->tick++;
	if (!ends)
		return;
	p->base_ns = until_ns;
	p->next = 0;
	p->at++;
}

static uint32_t most_waiting(const struct player *p, bool *up)
{
	uint32_t most = 0;

	*up = true;
	for (uint32_t i = 0; i < p->r->nnames; i++) {
		if (!p->host[i])
			continue;
		most = host_waiting(p->host[i]) > most ? host_waiting(p->host[i]) : most;
		*up &= host_is_up(p->host[i]);
	}
	return most;
}

static bool may_go_on(const struct player *p)
{
	uint64_t real_ns = clock_mono_ns() - p->began_ns;
	double played_ns = (double)(p->tick * TICK_NS);

	return p->cfg->speed <= 0 || played_ns <= (double)real_ns * p->cfg->speed;
}

static int on_step(void *arg)
{
	struct player *p = arg;
	bool up;

	if (!p->began_ns) {
		most_waiting(p, &up);
		if (!up && clock_mono_ns() - p->asked_ns > PATIENCE_NS) {
			snprintf(p->why, CSV_WHY,
				 "the collector did not accept all hosts within 30 s");
			return -ETIMEDOUT;
		}
		p->began_ns = up ? clock_mono_ns() : 0;
		return 0;
	}
	while (!p->over && most_waiting(p, &up) < WAITING && may_go_on(p))
		play_tick(p);
	if (p->over && most_waiting(p, &up) == 0)
		loop_stop(p->loop);
	return 0;
}

static int on_look(void *arg)
{
	struct player *p = arg;

	for (uint32_t i = 0; i < p->r->nnames; i++)
		if (p->host[i])
			host_look(p->host[i]);
	return 0;
}

static int run(struct player *p)
{
	uint64_t lost = 0;
	int r;

	p->asked_ns = clock_mono_ns();
	loop_add_timer(p->loop, STEP_MS, on_step, p);
	loop_add_timer(p->loop, UPLINK_TICK_MS, on_look, p);
	r = loop_run(p->loop);
	for (uint32_t i = 0; i < p->r->nnames; i++)
		lost += p->host[i] ? host_lost(p->host[i]) : 0;
	if (r < 0 || !lost)
		return r;
	snprintf(p->why, CSV_WHY, "%" PRIu64 " batches were not stored", lost);
	return -EIO;
}

/* Sets the start so that the replay ends at the requested time. */
static void begin(struct player *p)
{
	uint64_t until_ns = p->cfg->until_ns ? p->cfg->until_ns : clock_wall_ns();

	p->base_ns = p->now_ns = (until_ns - p->length_ns) / TICK_NS * TICK_NS;
	clock_set_wall(p->now_ns);
}

int play(struct recording *r, const struct play_config *cfg, char *why)
{
	struct player p = { .r = r, .cfg = cfg, .why = why, .loop = loop_new() };
	int e = endpoints_parse(cfg->collector, &p.collectors);

	if (e < 0)
		snprintf(why, CSV_WHY, "--collector is not tcp://host:port");
	if (e == 0) {
		find_windows(&p);
		e = make_list(&p);
	}
	if (e == 0) {
		begin(&p);
		e = open_hosts(&p);
	}
	if (e == 0)
		e = run(&p);
	for (uint32_t i = 0; p.host && i < r->nnames; i++)
		host_close(p.host[i]);
	free(p.host);
	free(p.number);
	free(p.window);
	free(p.list);
	loop_free(p.loop);
	return e;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * fleet.c - many nodes in one process, each with its own connection, key, epoch, window and ticks.
 *
 *	fleet URL [NAME=VALUE...]
 *		connects them all, then sends what each tick makes, and prints "name value" lines
 *	fleet keys [NAME=VALUE...]
 *		prints "key,node_id,name" of each, for who lets them in without a token
 *
 * first, nodes: fleet-FIRST and those after it; entities, metrics: of each batch; interval: ms
 * between two ticks of a node; seconds: of ticks; storm: ms of ticks after which all connections
 * are closed and opened anew; spread: ms over which they come back. batches: so many at once
 * instead of ticks. edges: of each node, to others among all; counts: so many of them, in turn, it
 * sends with each tick; events: requests that failed, a second, of all nodes of this process,
 * each in a batch of its own. settle: lags of the first so many seconds are reported apart.
 * fake_keys.h has the environment. A node takes two descriptors.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/tools/fleet_node.h"

enum { EVENTS = 256, SWEEP_MS = 100, CONNECT_S = 120, DRAIN_S = 60 };

static void make_nodes(struct fleet *f)
{
	f->node = calloc(f->nodes, sizeof(*f->node));
	if (!f->node)
		exit(2);
	for (uint64_t i = 0; i < f->nodes; i++) {
		struct node *n = &f->node[i];

		snprintf(n->name, sizeof(n->name), "fleet-%05" PRIu64, f->first + i);
		n->id = hash_node_id(n->name);
		n->key = fake_key_of(n->name);
		n->flow[STREAM_EVENT].next = n->flow[STREAM_METRIC].next = 1;
	}
}

static double seconds_between(uint64_t from, uint64_t to)
{
	return (double)(to - from) / (1000 * MS);
}

/* When the oldest that was not answered was sent, or what was before it was; 0: there is none. */
static uint64_t waits_since(const struct node *n)
{
	uint64_t since = 0;

	if (n->state == GREETED)
		return n->since_ns;
	if (n->state != UP)
		return 0;
	for (int stream = STREAM_EVENT; stream < STREAM_END; stream++) {
		const struct flow *w = &n->flow[stream];

		if (w->next > w->acked + 1 && (!since || w->progress_ns < since))
			since = w->progress_ns;
	}
	return since;
}

/* As the probe's uplink_tick: who gets no answer opens a new connection. */
static void sweep(struct fleet *f, uint64_t now)
{
	for (uint64_t i = 0; i < f->nodes; i++) {
		struct node *n = &f->node[i];
		uint64_t since = waits_since(n);

		if (n->state == CLOSED && now >= n->open_ns)
			open_node(f, n);
		else if (since && now - since >= n->patience_ns) {
			if (n->patience_ns < PATIENCE_MAX_NS)
				n->patience_ns *= 2;
			close_node(f, n, now);
		}
	}
}

static void close_all(struct fleet *f, uint64_t now)
{
	for (uint64_t i = 0; i < f->nodes; i++) {
		struct node *n = &f->node[i];

		n->patience_ns = PATIENCE_NS;
		close_node(f, n, now + (f->spread ? (uint64_t)rand() % f->spread * MS : 0));
	}
}

static uint64_t all_ticks(const struct fleet *f)
{
	return f->batches ? f->batches * f->nodes : f->seconds * 1000 * f->nodes / f->interval;
}

/* And one of each node that says where it is. */
static uint64_t all_events(const struct fleet *f)
{
	return f->calls.edges && !f->batches ? f->nodes + f->seconds * f->events : 0;
}

static uint64_t all_batches(const struct fleet *f)
{
	return all_ticks(f) + all_events(f);
}

static void make_until(struct fleet *f, uint8_t stream, uint64_t *done, uint64_t until)
{
	for (; *done < until; (*done)++) {
		struct node *n = &f->node[*done % f->nodes];

		n->flow[stream].made++;
		if (n->state == UP)
			serve(f, n);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Each node's next batch at its own moment. */
static void make_due(struct fleet *f, uint64_t now)
{
	uint64_t ms = (now - f->start_ns) / MS;

	make_until(f, STREAM_METRIC, &f->ticks,
		   least(ms * f->nodes / f->interval + 1, all_ticks(f)));
	make_until(f, STREAM_EVENT, &f->events_made,
		   least(f->nodes + ms * f->events / 1000, all_events(f)));
}

static void turn(struct fleet *f)
{
	static uint64_t sweep_ns;
	struct epoll_event e[EVENTS];
	int n = epoll_wait(f->poll_fd, e, EVENTS, 5);
	uint64_t now;

	for (int i = 0; i < n; i++)
		serve(f, e[i].data.ptr);
	now = clock_mono_ns();
	if (now < sweep_ns)
		return;
	sweep(f, now);
	sweep_ns = now + SWEEP_MS * MS;
}

/* Of a storm: when the last one was greeted, and when the last one was late. */
static void print_report(struct fleet *f, uint64_t samples)
{
	const struct fleet_lags *l = &f->lags;
	size_t before = fleet_lags_before(l, f->storm_ns);
	uint64_t late_ns = fleet_last_late(l, before, f->storm_ns);

	if (f->storm_ns) {
		printf("storm_welcome_s %.2f\nstorm_settled_s %.2f\n",
		       seconds_between(f->storm_ns, f->welcome_ns),
		       seconds_between(f->storm_ns, late_ns));
		fleet_tell_lags("storm", l->lag + before, l->n - before);
	}
	fleet_tell_lags("steady", l->lag, before);
	fleet_tell_lags("event", f->event_lags.lag, f->event_lags.n);
	fleet_tell_lags("begin", f->begin_lags.lag, f->begin_lags.n);
	printf("batches %" PRIu64 "\nsamples %" PRIu64 "\nsent %" PRIu64 "\nrewinds %" PRIu64
	       "\nopened %" PRIu64 "\nhellos %" PRIu64 "\nrefused %" PRIu64 "\n",
	       f->acked, samples, f->sent, f->rewinds, f->opened, f->hellos, f->refused);
}

static bool connect_all(struct fleet *f)
{
	uint64_t t0 = clock_mono_ns();

	close_all(f, t0);
	while (f->up < f->nodes && clock_mono_ns() - t0 < CONNECT_S * 1000 * MS)
		turn(f);
	printf("connected %" PRIu64 "\nconnected_s %.2f\n", f->up,
	       seconds_between(t0, clock_mono_ns()));
	return f->up == f->nodes;
}

static int run(struct fleet *f)
{
	uint64_t batches = all_batches(f), now;

	if (!connect_all(f))
		return 1;
	f->wall_ns = clock_wall_ns();
	f->start_ns = clock_mono_ns();
	for (uint64_t i = 0; i < f->nodes && f->batches; i++) {
		f->node[i].flow[STREAM_METRIC].made = f->batches;
		serve(f, &f->node[i]);
	}
	while (f->acked < batches) {
		turn(f);
		now = clock_mono_ns();
		if (!f->batches)
			make_due(f, now);
		if (f->storm && !f->storm_ns && now - f->start_ns >= f->storm * MS) {
			f->storm_ns = now;
			close_all(f, now);
		}
		if (!f->batches && now - f->start_ns > (f->seconds + DRAIN_S) * 1000 * MS)
			break;
	}
	printf("elapsed_s %.3f\n", seconds_between(f->start_ns, clock_mono_ns()));
	print_report(f, f->acked_ticks * f->entities * f->metrics);
	return f->acked < batches;
}

static void read_setting(struct fleet *f, const char *word)
{
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = { { "first", &f->first },	    { "nodes", &f->nodes },
		      { "seconds", &f->seconds },   { "interval", &f->interval },
		      { "storm", &f->storm },	    { "spread", &f->spread },
		      { "entities", &f->entities }, { "metrics", &f->metrics },
		      { "batches", &f->batches },   { "all", &f->calls.nodes },
		      { "edges", &f->calls.edges }, { "counts", &f->calls.counts },
		      { "events", &f->events },	    { "settle", &f->settle } };
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (word[len] && strlen(known[i].name) == len &&
		    strncmp(word, known[i].name, len) == 0) {
			*known[i].value = strtoull(word + len + 1, NULL, 10);
			return;
		}
	}
	fprintf(stderr, "fleet: what is %s?\n", word);
	exit(2);
}

static void open_fleet(struct fleet *f)
{
	struct key_list trusted = { 0 };
	const char *path = getenv("COLLECTOR_PUB");
	char err[256];

	if (!path || keys_read(path, &trusted, err, sizeof(err)) < 0 || trusted.n == 0) {
		fputs("COLLECTOR_PUB is no file with the collector's key\n", stderr);
		exit(2);
	}
	memcpy(f->collector, trusted.key[0], KEY_TEXT);
	fake_token(f->token);
	f->epoch = clock_wall_ns();
	srand((unsigned)f->epoch);
	f->zmq = zmq_ctx_new();
	zmq_ctx_set(f->zmq, ZMQ_MAX_SOCKETS, 4 * (int)f->nodes + 16); /* closing takes its time */
	zmq_ctx_set(f->zmq, ZMQ_IO_THREADS,
		    (int)f->nodes / 1000 + 1); /* router.c says of timers why */
	f->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	fleet_make_bodies(&f->bodies, (uint32_t)f->entities, (uint32_t)f->metrics);
}

int main(int argc, char *argv[])
{
	struct fleet f = { .nodes = 1,
			   .seconds = 30,
			   .interval = 10000,
			   .spread = 4000,
			   .entities = 10,
			   .metrics = 100 };

	if (argc < 2)
		return 2;
	f.url = argv[1];
	for (int i = 2; i < argc; i++)
		read_setting(&f, argv[i]);
	if (!f.calls.nodes)
		f.calls.nodes = f.first + f.nodes;
	make_nodes(&f);
	if (strcmp(f.url, "keys") == 0) {
		for (uint64_t i = 0; i < f.nodes; i++)
			printf("%s,%" PRIu64 ",%s\n", f.node[i].key.public, f.node[i].id,
			       f.node[i].name);
		return 0;
	}
	open_fleet(&f);
	return run(&f); /* the sockets end with the process */
}

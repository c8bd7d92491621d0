// SPDX-License-Identifier: Apache-2.0
#include "collector/access/key_registry.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/daemon/queue.h"
#include "collector/core/counters.h"
#include "collector/access/enrollment.h"
#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

enum {
	RELOAD_MS = 10000, /* between reads without a notification */
	SETTLE_MS = 100, /* the least time between two reads */
	RETRY_MS = 500,
	STOP_S = 2,
};

#define MS 1000000ull

struct key_registry {
	pthread_t thread;
	struct pg *pg;
	struct enrollment decide;
	bool listening;
	uint64_t due_ns, read_ns; /* the next read, the last one */
	struct queue *asks, *answers;
	int ask_fd, answer_fd;
	atomic_bool stopping;
	pthread_mutex_t lock; /* protects keys and loaded */
	struct pairmap *keys; /* struct key_registry_entry */
	bool loaded;
};

/* Half of a key identifies it: a collision would mean that Curve25519 is broken. */
static bool halves(const char *key, uint64_t half[static 2])
{
	uint8_t bytes[32];

	if (strlen(key) != KEY_TEXT - 1 || !zmq_z85_decode(bytes, key))
		return false;
	memcpy(half, bytes, 16);
	return true;
}

bool key_registry_find(struct key_registry *r, const char *key, struct key_registry_entry *out,
		       bool *loaded)
{
	const struct key_registry_entry *e = NULL;
	uint64_t half[2];

	if (halves(key, half)) {
		pthread_mutex_lock(&r->lock);
		*loaded = r->loaded;
		e = pairmap_find(r->keys, half[0], half[1]);
		if (e && strcmp(e->key, key) != 0)
			e = NULL;
		if (e)
			*out = *e;
		pthread_mutex_unlock(&r->lock);
	}
	return e;
}

static void put_row(struct pairmap *keys, const PGresult *res, int i)
{
	const char *key = PQgetvalue(res, i, 0);
	struct key_registry_entry *e;
	uint64_t half[2];

	if (!halves(key, half))
		return;
	e = pairmap_add(keys, half[0], half[1]);
	snprintf(e->key, sizeof(e->key), "%s", key);
	e->node = strtoull(PQgetvalue(res, i, 1), NULL, 10);
	e->state = (enum key_registry_state)strtoul(PQgetvalue(res, i, 2), NULL, 10);
	e->rotate = *PQgetvalue(res, i, 3) == 't';
	e->unused = *PQgetvalue(res, i, 4) == 't';
	snprintf(e->name, sizeof(e->name), "%s", PQgetvalue(res, i, 5));
	snprintf(e->relay, sizeof(e->relay), "%s", PQgetvalue(res, i, 6));
}

static void swap(struct key_registry *r, struct pairmap *keys)
{
	struct pairmap *old;

	pthread_mutex_lock(&r->lock);
	old = r->keys;
	r->keys = keys;
	r->loaded = true;
	pthread_mutex_unlock(&r->lock);
	pairmap_free(old);
}

static int read_keys(struct key_registry *r)
{
	static const char sql[] =
		"select k.key, k.node_id, k.state, k.rotate, k.replaces is not null,"
		" coalesce(n.name, k.name), k.relay from node_key k left join node n using "
		"(node_id)";
	AUTO(PQclear) PGresult *res = NULL;
	uint64_t count[KEY_REPLACED + 1] = { 0 };
	struct pairmap *keys;
	int e = pg_ask(r->pg, sql, &(struct pg_args){ 0 }, &res);

	if (e < 0)
		return e;
	keys = pairmap_new(sizeof(struct key_registry_entry));
	for (int i = 0; i < PQntuples(res); i++) {
		put_row(keys, res, i);
		count[strtoul(PQgetvalue(res, i, 2), NULL, 10) & 3]++;
	}
	swap(r, keys);
	counter_set(C_KEYS_APPROVED, count[KEY_APPROVED]);
	counter_set(C_KEYS_WAITING, count[KEY_PENDING]);
	r->read_ns = clock_mono_ns();
	r->due_ns = r->read_ns + RELOAD_MS * MS;
	return 0;
}

static void send_answer(struct key_registry *r, struct ask *a)
{
	if (queue_push(r->answers, a) < 0) {
		counter_add(C_ENROLS_LOST, 1);
		free(a);
		return;
	}
	(void)!eventfd_write(r->answer_fd, 1);
}

/* Decides all waiting requests that the database answers; for the others probes repeat HELLO. */
static size_t decide_all(struct key_registry *r, struct ask *done[static KEY_REGISTRY_ASKS],
			 bool *changed)
{
	size_t n = 0;
	void *p;

	while (n < KEY_REGISTRY_ASKS && !atomic_load(&r->stopping) &&
	       queue_pop(r->asks, 0, &p) == 0) {
		struct ask *a = p;
		int e = r->listening ? enrollment_decide(&r->decide, r->pg, a) : -ENOTCONN;

		if (e == -ENOTCONN)
			r->listening = false;
		*changed |= e == 0 && a->why == 0;
		if (e == 0 && a->kind != ASK_USED)
			done[n++] = a;
		else
			free(a);
	}
	return n;
}

/* Reads the changed keys before the answers go out. */
static void answer_all(struct key_registry *r)
{
	struct ask *done[KEY_REGISTRY_ASKS];
	bool changed = false;
	eventfd_t unused;
	size_t n;
	int e = 0;

	(void)!eventfd_read(r->ask_fd, &unused);
	n = decide_all(r, done, &changed);
	if (changed)
		e = read_keys(r);
	for (size_t i = 0; i < n; i++) {
		if (e == 0)
			send_answer(r, done[i]);
		else
			free(done[i]);
	}
}

static void listen_to_database(struct key_registry *r)
{
	int e = 0;

	if (!r->listening) {
		e = pg_connect(r->pg);
		if (e == 0)
			e = pg_do(r->pg, "listen seismo_keys");
		r->listening = e == 0;
		r->due_ns = 0;
	}
	if (e == 0 && clock_mono_ns() >= r->due_ns)
		e = read_keys(r);
	if (e < 0) { /* away, or not migrated yet: the writer says so */
		r->listening = r->listening && e != -ENOTCONN;
		r->due_ns = clock_mono_ns() + RETRY_MS * MS;
	}
}

static int wait_ms(const struct key_registry *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->listening)
		return RETRY_MS;
	return r->due_ns > now ? (int)((r->due_ns - now) / MS) + 1 : 0;
}

static void *run(void *arg)
{
	struct key_registry *r = arg;

	while (!atomic_load(&r->stopping)) {
		struct pollfd p[2] = { { .fd = r->ask_fd, .events = POLLIN } };

		listen_to_database(r);
		p[1] = (struct pollfd){ .fd = r->listening ? pg_socket(r->pg) : -1,
					.events = POLLIN };
		poll(p, 2, wait_ms(r));
		if (p[1].revents && pg_notified(r->pg) && r->due_ns > r->read_ns + SETTLE_MS * MS)
			r->due_ns = r->read_ns + SETTLE_MS * MS;
		if (pg_socket(r->pg) < 0)
			r->listening = false;
		answer_all(r);
	}
	return NULL;
}

int key_registry_start(struct key_registry **out, const char *database)
{
	struct key_registry *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		die("out of memory");
	r->pg = pg_new(database);
	r->keys = pairmap_new(sizeof(struct key_registry_entry));
	r->asks = queue_new(KEY_REGISTRY_ASKS);
	r->answers = queue_new(KEY_REGISTRY_ASKS);
	r->ask_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->answer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->ask_fd < 0 || r->answer_fd < 0)
		die("eventfd: %s", strerror(errno));
	pthread_mutex_init(&r->lock, NULL);
	e = -pthread_create(&r->thread, NULL, run, r);
	if (e == 0)
		*out = r;
	return e; /* nothing is freed on an error: the process exits */
}

static void free_all(struct queue *q)
{
	void *p;

	queue_close(q);
	while (queue_pop(q, 0, &p) == 0)
		free(p);
	queue_free(q);
}

/* A thread that hangs in the database is not waited for, since the process exits next. */
void key_registry_stop(struct key_registry *r)
{
	struct timespec until;

	if (!r)
		return;
	atomic_store(&r->stopping, true);
	(void)!eventfd_write(r->ask_fd, 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	if (pthread_clockjoin_np(r->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return;
	pg_free(r->pg);
	free_all(r->asks);
	free_all(r->answers);
	pairmap_free(r->keys);
	pthread_mutex_destroy(&r->lock);
	close(r->ask_fd);
	close(r->answer_fd);
	free(r);
}

void key_registry_ask(struct key_registry *r, const struct ask *a)
{
	struct ask *copy = malloc(sizeof(*copy));

	if (!copy)
		die("out of memory");
	*copy = *a;
	if (queue_push(r->asks, copy) < 0) {
		counter_add(C_ENROLS_LOST, 1);
		free(copy);
		return;
	}
	(void)!eventfd_write(r->ask_fd, 1);
}

int key_registry_answer_fd(const struct key_registry *r)
{
	return r->answer_fd;
}

bool key_registry_take_answer(struct key_registry *r, struct ask *out)
{
	eventfd_t unused;
	void *p;

	if (queue_depth(r->answers) == 0)
		(void)!eventfd_read(r->answer_fd, &unused);
	if (queue_pop(r->answers, 0, &p) < 0)
		return false;
	*out = *(struct ask *)p;
	free(p);
	return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/store/writer.h"

#include <pthread.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/store/commit.h"
#include "collector/store/hello_store.h"
#include "collector/pipeline/pipeline.h"
#include "collector/score/score_publish.h"
#include "collector/store/writer_log.h"

enum {
	GROUP_BATCHES = 512,
	GROUP_BYTES = 8 << 20,
	IDLE_MS = 1000,
	LINGER_MS = 5, /* wait for more work after the first, */
	LINGER_MAX_MS = 100, /* and in total */
	RETRY_MIN_MS = 100,
	RETRY_MAX_MS = 3000,
	STOP_S = 15,
};

static const struct stage *const back[] = { &stage_store };

struct writer {
	struct writer_config cfg;
	pthread_t thread;
	struct session *session;
	struct commit *commit;
	struct pipeline *line;
	struct score_publish *score_publish;
	struct work *work[GROUP_BATCHES];
	struct batch *batch[GROUP_BATCHES];
	size_t nwork, nbatches;
	struct hello hello[GROUP_BATCHES]; /* HELLOs of the group */
	struct entry *entry[GROUP_BATCHES]; /* entries to answer_queries with their watermarks, */
	bool of_hello[GROUP_BATCHES]; /* true: entry by a HELLO */
	uint64_t number; /* of the session in which the watermarks were read */
	int retry_ms;
	uint64_t group; /* number of the current group */
	uint64_t left; /* batches not stored at shutdown */
	bool gave_up;
	const char *refusal; /* of the last try; NULL: none */
	struct writer_log log;
	unsigned seed;
};

static void append_work(struct writer *w, struct work *work)
{
	w->work[w->nwork++] = work;
	if (work->batch) {
		w->batch[w->nbatches++] = work->batch;
		session_hear(w->session, work->batch->of.node_id, work->batch->of.wall_ns, false);
	} else if (work->kind == WORK_HELLO) {
		session_hear(w->session, work->node, work->wall_ns, true);
	}
}

/*
 * Collects queued work, waiting up to LINGER_MS for more, so that the thread wakes once per group.
 * -EPIPE: the queue is closed and empty.
 */
static int gather_group(struct writer *w)
{
	size_t bytes = 0;
	int waits = LINGER_MAX_MS / LINGER_MS;
	struct work *one;
	int r = writer_queue_take(w->cfg.link, IDLE_MS, &one);

	while (r == 0) {
		append_work(w, one);
		bytes += one->batch ? batch_bytes(one->batch) : 0;
		if (w->nwork == GROUP_BATCHES || bytes >= GROUP_BYTES)
			return 0;
		r = writer_queue_take(w->cfg.link, 0, &one);
		if (r == -ETIMEDOUT && waits-- > 0) {
			writer_queue_wait(w->cfg.link, LINGER_MS);
			r = writer_queue_take(w->cfg.link, 0, &one);
		}
	}
	return r == -EPIPE && w->nwork == 0 ? r : 0;
}

static int prepare_session(struct writer *w)
{
	int r = session_ready(w->session);

	w->refusal = r == 0 && w->cfg.refusal ? w->cfg.refusal(w->cfg.space) : NULL;
	if (r < 0)
		return r;
	if (w->refusal)
		return -ENOSPC;
	writer_log_ready(&w->log);
	if (w->number != session_number(w->session))
		commit_invalidate(w->commit);
	w->number = session_number(w->session);
	return 0;
}

/* Rows are rebuilt on every try: times and partitions may have changed. */
static void make_rows(struct writer *w)
{
	for (size_t i = 0; i < w->nbatches; i++) {
		struct batch *b = w->batch[i];

		b->now_ns = session_now_ns(w->session);
		b->from_ns = session_from_ns(w->session);
		b->until_ns = session_until_ns(w->session);
		b->other_from_ns = session_other_from_ns(w->session);
		b->other_until_ns = session_other_until_ns(w->session);
		b->raw_from_ns = session_raw_from_ns(w->session);
		b->raw_until_ns = session_raw_until_ns(w->session);
		if (pipeline_run(w->line, b) < 0 && !b->malformed)
			b->malformed = "a stage refused the batch";
	}
}

static void send_note(struct writer *w, struct entry *e, enum note_kind kind, bool hello)
{
	struct note n = { .kind = e->unknown_node ? NOTE_UNKNOWN_NODE : kind,
			  .hello = hello,
			  .tagged = e->tagged,
			  .node = e->node,
			  .epoch = e->epoch };

	memcpy(n.seq, e->seq, sizeof(n.seq));
	n.bytes = e->bytes;
	e->bytes = 0;
	writer_queue_note(w->cfg.link, &n);
}

/* Answers the work that is not batches: stores all HELLOs at once, then reads all watermarks. */
static int answer_queries(struct writer *w)
{
	size_t hellos = 0, n = 0;
	int r;

	for (size_t i = 0; i < w->nwork; i++) {
		const struct work *one = w->work[i];

		if (one->kind == WORK_HELLO)
			w->hello[hellos++] = (struct hello){ .node = one->node,
							     .wall_ns = one->wall_ns,
							     .name = one->name,
							     .machine = one->machine,
							     .version = one->version };
	}
	r = hello_store(session_pg(w->session), session_region(w->session), w->hello, hellos);
	if (r < 0)
		return r;
	hellos = 0;
	for (size_t i = 0; i < w->nwork; i++) {
		const struct work *one = w->work[i];
		bool hello = one->kind == WORK_HELLO;

		if (one->kind == WORK_BATCH || (hello && w->hello[hellos++].refused))
			continue;
		w->of_hello[n] = hello;
		w->entry[n++] = commit_entry(w->commit, one->node, one->epoch);
	}
	r = commit_load(w->commit, w->entry, n);
	for (size_t i = 0; i < n && r == 0; i++)
		send_note(w, w->entry[i], NOTE_STORED, w->of_hello[i]);
	return r;
}

static int store_group(struct writer *w)
{
	int r = 0;

	if (w->nbatches) {
		make_rows(w);
		r = commit_group(w->commit, w->batch, w->nbatches);
	}
	return r < 0 ? r : answer_queries(w);
}

/* Sends one note per epoch. NOTE_LOADED after a gap: queued batches are gone. */
static void send_notes(struct writer *w)
{
	bool requests = false;

	for (size_t i = 0; i < w->nbatches; i++) {
		const struct batch *b = w->batch[i];
		struct entry *e = commit_entry(w->commit, b->head.node_id, b->head.epoch);

		requests |= b->rows[FACT_REQUEST].n > 0;
		writer_log_batch(&w->log, e, b);
		if (b->outcome == OUTCOME_DONE)
			score_publish_take(w->score_publish, b);
		counter_add(C_BATCHES_TWICE, b->outcome == OUTCOME_DUPLICATE);
		e->gap |= b->outcome == OUTCOME_GAP;
		e->bytes += batch_bytes(b);
	}
	for (size_t i = 0; i < w->nbatches; i++) {
		const struct batch *b = w->batch[i];
		struct entry *e = commit_entry(w->commit, b->head.node_id, b->head.epoch);

		if (e->noted == w->group)
			continue;
		e->noted = w->group;
		send_note(w, e, e->gap ? NOTE_LOADED : NOTE_STORED, false);
		e->gap = false;
	}
	if (requests)
		w->cfg.on_requests(w->cfg.arg);
}

static void drop_work(struct writer *w)
{
	for (size_t i = 0; i < w->nwork; i++) {
		writer_queue_done(w->work[i]);
		work_free(w->work[i]);
	}
	w->nwork = w->nbatches = 0;
}

/* The outcome of the transaction may be unknown, so everything is read again before the
 * next try. */
static void reset_session(struct writer *w)
{
	session_broken(w->session);
	commit_invalidate(w->commit);
}

/* A failure here does not undo the stored batches. */
static void write_scores(struct writer *w)
{
	int r = score_publish_write(w->score_publish, session_pg(w->session));

	if (r < 0 && r != -EINVAL)
		reset_session(w);
}

static void wait_for_database(struct writer *w)
{
	if (!w->log.away_ns)
		w->retry_ms = RETRY_MIN_MS;
	writer_log_away(&w->log, w->refusal ? w->refusal : session_why(w->session));
	writer_queue_wait(w->cfg.link,
			  w->retry_ms / 2 + (int)(rand_r(&w->seed) % (unsigned)w->retry_ms));
	if (w->retry_ms < RETRY_MAX_MS)
		w->retry_ms *= 2;
}

/* One try. -ESTALE: a watermark has moved; the next try may follow at once. */
static int try_group(struct writer *w)
{
	int r = prepare_session(w);

	if (r < 0)
		return r;
	r = store_group(w);
	if (r < 0 && r != -ESTALE)
		reset_session(w);
	if (r == 0) {
		w->group++;
		send_notes(w);
		write_scores(w);
	}
	return r;
}

/* Retries until the group is stored. At shutdown with the database away it gives up: the probes
 * still have the batches. */
static void finish_group(struct writer *w)
{
	while (!w->gave_up) {
		int r = try_group(w);

		if (r == 0)
			return;
		if (r == -ESTALE)
			continue;
		w->gave_up = writer_queue_closed(w->cfg.link);
		if (!w->gave_up)
			wait_for_database(w);
	}
	w->left += w->nbatches;
}

static void *writer_run(void *arg)
{
	struct writer *w = arg;

	do {
		finish_group(w); /* first with an empty group, to prepare the database */
		drop_work(w);
	} while (gather_group(w) == 0);
	if (w->left)
		writer_log_left(w->left);
	return NULL;
}

static void writer_free(struct writer *w)
{
	session_free(w->session);
	commit_free(w->commit);
	score_publish_free(w->score_publish);
	pipeline_close(w->line);
	free(w);
}

int writer_start(struct writer **out, const struct writer_config *cfg)
{
	struct writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		die("out of memory");
	w->cfg = *cfg;
	w->seed = (unsigned)clock_mono_ns();
	w->session = session_new(&cfg->session);
	w->commit = commit_new(w->session, cfg->outbox);
	w->score_publish = score_publish_new();
	r = pipeline_open(&w->line, back, ARRAY_SIZE(back), &(struct stage_env){ 0 });
	if (r == 0)
		r = -pthread_create(&w->thread, NULL, writer_run, w);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	*out = w;
	return 0;
}

int writer_stop(struct writer *w)
{
	struct timespec until;

	writer_queue_close(w->cfg.link);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	if (pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return -ETIMEDOUT;
	writer_free(w);
	return 0;
}

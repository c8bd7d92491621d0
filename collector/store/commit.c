// SPDX-License-Identifier: Apache-2.0
#include "collector/store/commit.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "collector/store/clocks.h"
#include "collector/core/counters.h"
#include "collector/store/remote_nodes.h"
#include "collector/store/places.h"
#include "collector/store/row/remote_rollups.h"
#include "collector/store/content_store.h"
#include "collector/store/row/tables.h"

struct commit {
	struct session *session;
	struct watermark_store *watermarks;
	struct dims *dims;
	struct content_store *contents;
	struct remote_nodes *remote_nodes;
	struct outbox *outbox;
	struct buf rows; /* of one table, from all batches */
	struct entry **entry; /* of the current batches, each once */
	struct batch **taken, **resent;
	size_t cap, nentries, ntaken;
	size_t nfresh; /* taken[0..nfresh) are new; the rest are stored already under another head
			*/
};

struct commit *commit_new(struct session *s, struct outbox *o)
{
	struct commit *c = calloc(1, sizeof(*c));

	if (!c)
		die("out of memory");
	c->session = s;
	c->watermarks = watermark_store_new();
	c->dims = dims_new();
	c->contents = content_store_new();
	c->remote_nodes = remote_nodes_new();
	c->outbox = o;
	return c;
}

void commit_free(struct commit *c)
{
	if (!c)
		return;
	watermark_store_free(c->watermarks);
	dims_free(c->dims);
	content_store_free(c->contents);
	remote_nodes_free(c->remote_nodes);
	buf_free(&c->rows);
	free(c->entry);
	free(c->taken);
	free(c->resent);
	free(c);
}

struct entry *commit_entry(struct commit *c, uint64_t node, uint64_t epoch)
{
	return watermark_store_entry(c->watermarks, node, epoch);
}

void commit_invalidate(struct commit *c)
{
	watermark_store_invalidate(c->watermarks);
	dims_forget(c->dims);
	content_store_forget(c->contents);
	remote_nodes_forget(c->remote_nodes);
}

int commit_load(struct commit *c, struct entry *const *e, size_t n)
{
	return n ? watermark_store_load(c->watermarks, session_pg(c->session), e, n) : 0;
}

static void make_room(struct commit *c, size_t n)
{
	if (n <= c->cap)
		return;
	c->cap = n;
	c->entry = realloc(c->entry, n * sizeof(struct entry *));
	c->taken = realloc(c->taken, n * sizeof(struct batch *));
	c->resent = realloc(c->resent, n * sizeof(struct batch *));
	if (!c->entry || !c->taken || !c->resent)
		die("out of memory");
}

static bool has_entry(const struct commit *c, const struct entry *e)
{
	for (size_t i = 0; i < c->nentries; i++)
		if (c->entry[i] == e)
			return true;
	return false;
}

/* Collects the entries of these batches, loaded and with no batch judged yet. */
static int load_entries(struct commit *c, struct batch *const *b, size_t n)
{
	size_t unknown = 0;

	make_room(c, n);
	c->nentries = 0;
	for (size_t i = 0; i < n; i++) {
		struct entry *e = commit_entry(c, b[i]->head.node_id, b[i]->head.epoch);

		if (has_entry(c, e))
			continue;
		c->entry[c->nentries++] = e;
		if (e->known)
			watermark_store_begin(e);
		unknown += !e->known;
	}
	return unknown ? watermark_store_load(c->watermarks, session_pg(c->session), c->entry,
					      c->nentries)
		       : 0;
}

static void judge_batches(struct commit *c, struct batch *const *b, size_t n)
{
	c->ntaken = 0;
	for (size_t i = 0; i < n; i++) {
		struct entry *e = commit_entry(c, b[i]->head.node_id, b[i]->head.epoch);
		uint64_t mark = e->next[b[i]->head.stream];

		b[i]->outcome = watermark_store_judge(e, &b[i]->head);
		if (b[i]->outcome != OUTCOME_TAKEN)
			continue;
		b[i]->gap_from = mark + 1;
		b[i]->resent = false;
		b[i]->name = e->name;
		c->taken[c->ntaken++] = b[i];
	}
}

/* Moves the batches that are stored already under another head behind the others; both keep their
 * order. */
static int find_fresh(struct commit *c)
{
	int r = remote_nodes_find_resent(session_pg(c->session), c->taken, c->ntaken);
	size_t n = 0, resent = 0;

	for (size_t i = 0; i < c->ntaken; i++)
		if (c->taken[i]->resent)
			c->resent[resent++] = c->taken[i];
		else
			c->taken[n++] = c->taken[i];
	memcpy(&c->taken[n], c->resent, resent * sizeof(struct batch *));
	c->nfresh = n;
	return r;
}

/* Watermarks first: a batch that another collector stored must not reach a table. */
static int store_taken(struct commit *c, struct batch *culprit, const char *state,
		       const char *message)
{
	struct pg *p = session_pg(c->session);
	int r = watermark_store_move(p, c->entry, c->nentries);

	if (r == 0)
		r = tables_gaps(p, c->taken, c->ntaken);
	if (r == 0 && culprit)
		return tables_quarantine(p, culprit, state, message);
	if (r == 0)
		r = find_fresh(c);
	if (r == 0)
		r = remote_nodes_store(c->remote_nodes, p, c->taken, c->nfresh);
	if (r == 0)
		r = dims_store(c->dims, p, c->taken, c->nfresh);
	if (r == 0)
		r = content_store_store(c->contents, p, c->taken, c->nfresh);
	if (r == 0)
		r = places_store(p, c->taken, c->nfresh);
	if (r == 0)
		r = clocks_store(p, c->taken, c->nfresh);
	if (r == 0)
		r = remote_rollups_store(p, c->taken, c->nfresh);
	if (r == 0)
		r = tables_rows(p, c->taken, c->nfresh,
				session_commit_ns(c->session, session_now_ns(c->session)),
				&c->rows);
	if (r == 0 && c->outbox)
		r = outbox_store(c->outbox, p, c->taken, c->nfresh);
	return r;
}

static void count_stored(const struct batch *b)
{
	static const enum counter rows[FACT_END] = {
		[FACT_SAMPLE] = C_ROWS_SAMPLE,	   [FACT_SAMPLE_RAW] = C_ROWS_SAMPLE_RAW,
		[FACT_REQUEST] = C_ROWS_REQUEST,   [FACT_RED] = C_ROWS_RED,
		[FACT_UNREAD] = C_ROWS_UNREAD,	   [FACT_EVENT] = C_ROWS_EVENT,
		[FACT_EVIDENCE] = C_ROWS_EVIDENCE, [FACT_PROFILE] = C_ROWS_PROFILE,
	};

	for (int f = 0; f < FACT_END; f++)
		counter_add(rows[f], b->rows[f].n);
	counter_add(C_ROWS_CLAMPED, b->clamped);
	counter_add(C_BATCHES_STORED, 1);
}

static void committed(struct commit *c, bool quarantined)
{
	watermark_store_moved(c->entry, c->nentries);
	counter_add(C_COMMITS, 1);
	for (size_t i = 0; i < c->ntaken; i++) {
		struct batch *b = c->taken[i];

		b->outcome = quarantined ? OUTCOME_QUARANTINED : OUTCOME_DONE;
		counter_add(C_GAPS, b->gap_from != b->head.seq);
		counter_add(C_BATCHES_LOST, b->head.seq - b->gap_from);
		counter_add(C_RELAYED_AGAIN, b->resent);
		if (quarantined)
			counter_add(C_QUARANTINED, 1);
		else if (!b->resent)
			count_stored(b);
	}
}

static int transact(struct commit *c, struct batch *culprit, const char *state, const char *message)
{
	struct pg *p = session_pg(c->session);
	uint64_t t0 = clock_mono_ns();
	int r = pg_do(p, "begin");

	if (r == 0)
		r = store_taken(c, culprit, state, message);
	if (r == 0)
		r = pg_commit(p);
	counter_add(C_COMMIT_NS, clock_mono_ns() - t0);
	if (r == 0) {
		committed(c, culprit != NULL);
		return 0;
	}
	counter_add(r == -ESTALE ? C_MARKS_MOVED : C_COMMIT_FAILURES, 1);
	pg_rollback(p);
	dims_forget(c->dims);
	content_store_forget(c->contents);
	remote_nodes_forget(c->remote_nodes);
	if (r != -EINVAL)
		watermark_store_invalidate(c->watermarks);
	return r;
}

/* Judges the batches again, because an earlier attempt may have moved a watermark, and stores those
 * taken. */
static int attempt(struct commit *c, struct batch *const *b, size_t n, bool is_culprit,
		   const char *state, const char *message)
{
	int r = load_entries(c, b, n);

	if (r < 0)
		return r;
	judge_batches(c, b, n);
	if (c->ntaken == 0)
		return 0;
	return transact(c, is_culprit ? b[0] : NULL, state, message);
}

static int set_aside(struct commit *c, struct batch *const *b, const char *state,
		     const char *message)
{
	int r = attempt(c, b, 1, true, state, message);

	return r == -EINVAL ? -EIO : r; /* a single batch cannot be halved */
}

/* The number of leading batches that no stage has refused: they may share a transaction. */
static size_t count_well_formed(struct batch *const *b, size_t n)
{
	size_t i = 0;

	while (i < n && !b[i]->malformed)
		i++;
	return i;
}

/* Stores the batches as a whole; if the database refuses their data, by halves, down to the
 * culprit. */
static int store_well_formed(struct commit *c, struct batch *const *b, size_t n)
{
	struct pg *p = session_pg(c->session);
	char state[8], message[256];
	int r = attempt(c, b, n, false, NULL, NULL);

	if (r != -EINVAL)
		return r;
	if (n > 1) {
		r = store_well_formed(c, b, n / 2);
		return r < 0 ? r : store_well_formed(c, b + n / 2, n - n / 2);
	}
	snprintf(state, sizeof(state), "%s", pg_state(p));
	snprintf(message, sizeof(message), "%s", pg_why(p));
	return set_aside(c, b, state, message);
}

int commit_group(struct commit *c, struct batch *const *b, size_t n)
{
	int r = remote_nodes_check(c->remote_nodes, session_pg(c->session), b, n);

	watermark_store_trim(c->watermarks);
	while (n && r == 0) {
		size_t some = count_well_formed(b, n);

		if (some) {
			r = store_well_formed(c, b, some);
		} else {
			some = 1;
			r = set_aside(c, b, "", b[0]->malformed);
		}
		b += some;
		n -= some;
	}
	return r;
}

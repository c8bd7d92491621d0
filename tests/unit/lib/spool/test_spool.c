// SPDX-License-Identifier: Apache-2.0
#include "lib/spool/spool.h"
#include "tests/lib/test.h"

#define EVENT STREAM_EVENT
#define METRIC STREAM_METRIC

enum { PLENTY = 1 << 20 };

static uint64_t put(struct spool *s, enum wire_stream stream, uint32_t rows, size_t len)
{
	static const char body[4096];

	return spool_append(s, stream, 7, rows, body, len);
}

TEST(the_first_batch_of_each_stream_has_number_1)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);

	CHECK_EQ(put(s, EVENT, 1, 10), 1);
	CHECK_EQ(put(s, METRIC, 1, 10), 1);
	CHECK_EQ(put(s, EVENT, 1, 10), 2);
	CHECK_EQ(spool_base(s, EVENT), 1);
	CHECK_EQ(spool_batches(s), 3);
}

TEST(epochs_are_different_positive_bigints)
{
	AUTO(spool_free) struct spool *a = spool_new(PLENTY);
	AUTO(spool_free) struct spool *b = spool_new(PLENTY);

	CHECK(spool_epoch(a) != spool_epoch(b));
	CHECK((int64_t)spool_epoch(a) > 0);
	CHECK((int64_t)spool_epoch(b) > 0);
}

TEST(a_batch_is_sent_once_and_again_after_a_rewind)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);
	size_t bytes;

	for (int i = 0; i < 3; i++)
		put(s, EVENT, 1, 10);
	CHECK_EQ(spool_next(s, EVENT)->seq, 1);
	CHECK_EQ(spool_next(s, EVENT)->seq, 2);
	CHECK_EQ(spool_unacked(s, &bytes), 2);
	CHECK(bytes > 20);
	spool_rewind(s, EVENT, 1);
	CHECK_EQ(spool_unacked(s, &bytes), 1);
	CHECK_EQ(spool_next(s, EVENT)->seq, 2);
	CHECK_EQ(spool_next(s, EVENT)->seq, 3);
	CHECK(!spool_next(s, EVENT));
	CHECK(!spool_next(s, METRIC));
}

TEST(an_ack_frees_up_to_its_mark_and_moves_the_base)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);
	size_t bytes;

	for (int i = 0; i < 3; i++)
		put(s, METRIC, 1, 10);
	spool_next(s, METRIC);
	CHECK_EQ(spool_ack(s, METRIC, 2), 0);
	CHECK_EQ(spool_base(s, METRIC), 3);
	CHECK_EQ(spool_unacked(s, &bytes), 0);
	CHECK_EQ(bytes, 0);
	CHECK_EQ(spool_next(s, METRIC)->seq, 3);
	CHECK_EQ(spool_ack(s, METRIC, 3), 0);
	CHECK_EQ(spool_base(s, METRIC), 4);
	CHECK_EQ(spool_bytes(s), 0);
	CHECK_EQ(spool_ack(s, METRIC, 1), 0); /* late, and nothing new */
	CHECK_EQ(spool_base(s, METRIC), 4);
}

TEST(an_ack_of_what_was_never_made_is_refused_and_changes_nothing)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);

	put(s, EVENT, 1, 10);
	CHECK_EQ(spool_ack(s, EVENT, 2), -ERANGE);
	CHECK_EQ(spool_ack(s, METRIC, 1), -ERANGE);
	CHECK_EQ(spool_ack(s, METRIC, UINT64_MAX), -ERANGE);
	CHECK_EQ(spool_batches(s), 1);
}

TEST(the_oldest_metrics_are_dropped_before_any_event)
{
	AUTO(spool_free) struct spool *s = spool_new(10000);

	put(s, EVENT, 5, 1000);
	for (int i = 0; i < 20; i++)
		put(s, METRIC, 3, 1000);
	CHECK_EQ(spool_lost(s, EVENT).batches, 0);
	CHECK_EQ(spool_base(s, EVENT), 1);
	CHECK(spool_bytes(s) <= 10000);
	CHECK(spool_lost(s, METRIC).batches > 10);
	CHECK_EQ(spool_lost(s, METRIC).rows, 3 * spool_lost(s, METRIC).batches);
	CHECK_EQ(spool_base(s, METRIC), 1 + spool_lost(s, METRIC).batches);
	CHECK_EQ(spool_next(s, METRIC)->seq, spool_base(s, METRIC));
}

TEST(events_are_dropped_oldest_first_when_no_metrics_are_left)
{
	AUTO(spool_free) struct spool *s = spool_new(10000);

	put(s, METRIC, 1, 1000);
	for (int i = 0; i < 20; i++)
		put(s, EVENT, 2, 1000);
	CHECK_EQ(spool_lost(s, METRIC).batches, 1);
	CHECK(spool_lost(s, EVENT).batches > 0);
	CHECK_EQ(spool_lost(s, EVENT).rows, 2 * spool_lost(s, EVENT).batches);
	CHECK_EQ(spool_base(s, EVENT), 1 + spool_lost(s, EVENT).batches);
	CHECK_EQ(put(s, METRIC, 1, 1000), 2);
}

TEST(a_batch_larger_than_the_cap_is_lost_and_counted)
{
	AUTO(spool_free) struct spool *s = spool_new(1000);

	CHECK_EQ(put(s, EVENT, 9, 2000), 1);
	CHECK_EQ(spool_lost(s, EVENT).rows, 9);
	CHECK_EQ(spool_base(s, EVENT), 2);
	CHECK(!spool_next(s, EVENT));
}

TEST(a_message_under_way_outlives_its_batch)
{
	struct spool *s = spool_new(PLENTY);
	struct spool_batch *b;

	put(s, EVENT, 1, 10);
	b = spool_next(s, EVENT);
	spool_batch_hold(b);
	CHECK_EQ(spool_ack(s, EVENT, 1), 0);
	spool_free(s);
	CHECK_EQ(b->body[9], 0);
	spool_batch_release(b);
}

TEST(a_renewed_spool_numbers_what_it_has_from_1_under_another_epoch)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);
	uint64_t epoch = spool_epoch(s);

	for (int i = 0; i < 5; i++)
		put(s, EVENT, (uint32_t)i, 10);
	spool_next(s, EVENT);
	CHECK_EQ(spool_ack(s, EVENT, 2), 0);
	spool_renew(s);
	CHECK(spool_epoch(s) != epoch);
	CHECK_EQ(spool_base(s, EVENT), 1);
	CHECK_EQ(spool_next(s, EVENT)->rows, 2);
	CHECK_EQ(put(s, EVENT, 1, 10), 4);
	CHECK_EQ(put(s, METRIC, 1, 10), 1);
}

/* The same, said naively: a flag for each batch there ever was. */
enum { MODEL_MAX = 4000 };
struct model {
	struct {
		size_t len;
		bool there;
	} b[STREAM_END][MODEL_MAX];
	uint64_t n[STREAM_END], cursor[STREAM_END], lost[STREAM_END];
	size_t cap, overhead;
};

/* What the spool takes for a batch besides its body. */
static size_t overhead(void)
{
	AUTO(spool_free) struct spool *s = spool_new(PLENTY);

	put(s, EVENT, 1, 1);
	return spool_bytes(s) - 1;
}

static size_t model_bytes(const struct model *m)
{
	size_t sum = 0;

	for (int st = EVENT; st < STREAM_END; st++)
		for (uint64_t i = 1; i <= m->n[st]; i++)
			if (m->b[st][i].there)
				sum += m->b[st][i].len + m->overhead;
	return sum;
}

static uint64_t model_base(const struct model *m, int st)
{
	for (uint64_t i = 1; i <= m->n[st]; i++)
		if (m->b[st][i].there)
			return i;
	return m->n[st] + 1;
}

static void model_append(struct model *m, int st, size_t len)
{
	m->b[st][++m->n[st]].there = true;
	m->b[st][m->n[st]].len = len;
	while (model_bytes(m) > m->cap) {
		int victim = model_base(m, METRIC) <= m->n[METRIC] ? METRIC : EVENT;

		m->b[victim][model_base(m, victim)].there = false;
		m->lost[victim]++;
	}
}

static uint64_t model_next(struct model *m, int st)
{
	uint64_t base = model_base(m, st);

	if (m->cursor[st] < base)
		m->cursor[st] = base;
	return m->cursor[st] <= m->n[st] ? m->cursor[st]++ : 0;
}

static void model_ack(struct model *m, int st, uint64_t mark)
{
	for (uint64_t i = 1; i <= mark; i++)
		m->b[st][i].there = false;
}

static uint32_t model_unacked(const struct model *m)
{
	uint32_t n = 0;

	for (int st = EVENT; st < STREAM_END; st++)
		for (uint64_t i = 1; i < m->cursor[st] && i <= m->n[st]; i++)
			n += m->b[st][i].there;
	return n;
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void step(struct spool *s, struct model *m, uint64_t *seed)
{
	enum wire_stream st = rnd(seed) % 2 ? EVENT : METRIC;
	uint64_t what = rnd(seed) % 10, mark = rnd(seed) % (m->n[st] + 1);
	size_t len = 1 + rnd(seed) % 300;
	struct spool_batch *b;

	if (what < 5) {
		model_append(m, st, len);
		CHECK_EQ(put(s, st, 1, len), m->n[st]);
	} else if (what < 8) {
		b = spool_next(s, st);
		CHECK_EQ(b ? b->seq : 0, model_next(m, st));
	} else if (what < 9) {
		model_ack(m, st, mark);
		CHECK_EQ(spool_ack(s, st, mark), 0);
	} else {
		m->cursor[st] = mark + 1;
		spool_rewind(s, st, mark);
	}
}

static void compare(const struct spool *s, const struct model *m)
{
	size_t bytes;

	for (enum wire_stream st = EVENT; st < STREAM_END; st++) {
		CHECK_EQ(spool_base(s, st), model_base(m, st));
		CHECK_EQ(spool_lost(s, st).batches, m->lost[st]);
		CHECK_EQ(spool_lost(s, st).rows, m->lost[st]);
	}
	CHECK_EQ(spool_bytes(s), model_bytes(m));
	CHECK_EQ(spool_unacked(s, &bytes), model_unacked(m));
	CHECK(bytes <= spool_bytes(s));
}

TEST(whatever_comes_in_whatever_order_the_spool_does_what_a_list_of_flags_does)
{
	for (uint64_t seed = 1; seed <= 40 && !test_failed; seed++) {
		static struct model m;
		uint64_t state = seed * 0x9e3779b97f4a7c15u;
		size_t cap = 300 + (size_t)(rnd(&state) % 8000);
		AUTO(spool_free) struct spool *s = spool_new(cap);

		m = (struct model){ .cap = cap, .overhead = overhead() };
		for (int i = 0; i < 500 && !test_failed; i++) {
			step(s, &m, &state);
			compare(s, &m);
		}
	}
}

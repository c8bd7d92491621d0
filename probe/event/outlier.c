// SPDX-License-Identifier: Apache-2.0
#include "probe/event/outlier.h"

#include "probe/event/time_code.h"

enum {
	BELOW = 20, /* slots below the first median: those above reach to 40 times the median */
	EDGE = 4, /* a median this near to an end has left the range of the slots */
	WINDOW = 1000,
	WINDOW_S = 60,
	MEMORY = 16 * WINDOW, /* durations learnt before half of them are forgotten */
	TOLERATED = 50, /* per 1,000 in a window */
	FAULTS_TO_ADOPT = 3,
	ADOPT_S = 24 * 3600,
};

_Static_assert(sizeof(struct outlier) <= 240, "a thousand of them in 240 kB");
_Static_assert(MEMORY + WINDOW + EXCESS_SLOTS * UINT8_MAX <= UINT16_MAX, "fits a slot");

bool outlier_judge(const struct outlier *e, uint64_t us, uint64_t *over_us)
{
	if (e->n < EXCESS_FIRST)
		return false;
	*over_us = us > e->limit_us ? us - e->limit_us : 0;
	return true;
}

static uint32_t slot_of(const struct outlier *e, uint8_t code)
{
	uint32_t slot = code > e->first ? (uint32_t)code - e->first : 0;

	return slot < EXCESS_SLOTS ? slot : EXCESS_SLOTS - 1;
}

/* Interpolates within a slot, as if it were evenly filled. */
static uint64_t quantile(const struct outlier *e, double q, uint32_t *slot)
{
	double rank = q * e->n, before = 0;
	uint32_t i = 0, others, least;

	for (; i < EXCESS_SLOTS - 1 && before + e->base[i] < rank; i++)
		before += e->base[i];
	*slot = i;
	least = time_of_code((uint8_t)(e->first + i), &others);
	return least + (uint64_t)(others * (rank - before) / (e->base[i] ? e->base[i] : 1));
}

static uint16_t share_over(const struct outlier *e)
{
	uint32_t n = 0;

	for (uint32_t i = slot_of(e, time_code(e->limit_us)) + 1; i < EXCESS_SLOTS; i++)
		n += e->base[i];
	return (uint16_t)(n * 1000 / e->n);
}

/* Starts from nothing if the durations have left the range of the slots. */
static void refresh(struct outlier *e)
{
	uint64_t low, high;
	uint32_t slot, unused;

	low = quantile(e, 0.25, &unused);
	e->p50_us = quantile(e, 0.50, &slot);
	high = quantile(e, 0.75, &unused);
	if ((slot < EDGE && e->first) || slot >= EXCESS_SLOTS - EDGE) {
		*e = (struct outlier){ 0 };
		return;
	}
	e->limit_us = e->p50_us + 3 * (high - low);
	e->usual_over = share_over(e);
}

static int compare(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* Keeps the durations themselves until there are enough to place the slots. */
static void learn_first(struct outlier *e, uint8_t code)
{
	uint8_t middle;

	e->window[e->n++] = code;
	if (e->n < EXCESS_SLOTS)
		return;
	qsort(e->window, EXCESS_SLOTS, 1, compare);
	middle = e->window[EXCESS_SLOTS / 2];
	e->first = middle > BELOW ? (uint8_t)(middle - BELOW) : 0;
	if (e->first > TIME_CODE_MAX - EXCESS_SLOTS + 1)
		e->first = TIME_CODE_MAX - EXCESS_SLOTS + 1;
	for (uint32_t i = 0; i < EXCESS_SLOTS; i++)
		e->base[slot_of(e, e->window[i])]++;
	memset(e->window, 0, sizeof(e->window));
}

static void forget_half(struct outlier *e)
{
	e->n = 0;
	for (uint32_t i = 0; i < EXCESS_SLOTS; i++) {
		e->base[i] /= 2;
		e->n += e->base[i];
	}
}

static void merge(struct outlier *e)
{
	for (uint32_t i = 0; i < EXCESS_SLOTS; i++) {
		e->base[i] = (uint16_t)(e->base[i] + e->window[i]);
		e->n += e->window[i];
	}
	if (e->n >= MEMORY)
		forget_half(e);
}

static bool is_faulty(const struct outlier *e)
{
	return (uint64_t)e->over * 1000 > (uint64_t)e->n_window * (2u * e->usual_over + TOLERATED);
}

/* True: this level has become usual. */
static bool is_adopted(struct outlier *e, uint32_t now_s)
{
	if (!e->faults)
		e->fault_s = now_s;
	e->faults = (uint8_t)(e->faults + (e->faults < FAULTS_TO_ADOPT));
	return e->faults == FAULTS_TO_ADOPT && now_s - e->fault_s >= ADOPT_S;
}

static void window_close(struct outlier *e, uint32_t now_s)
{
	bool faulty = is_faulty(e), adopted = faulty && is_adopted(e, now_s);

	if (adopted) {
		memset(e->base, 0, sizeof(e->base));
		e->n = 0;
	}
	if (!faulty || adopted) {
		merge(e);
		e->faults = 0;
	}
	memset(e->window, 0, sizeof(e->window));
	e->n_window = e->over = 0;
	refresh(e);
}

/* Halves all counts when one is full: the counts of a window are merged as proportions. */
static void count(struct outlier *e, uint32_t slot)
{
	if (e->window[slot] == UINT8_MAX)
		for (uint32_t i = 0; i < EXCESS_SLOTS; i++)
			e->window[i] /= 2;
	e->window[slot]++;
}

void outlier_learn(struct outlier *e, uint64_t us, uint64_t now_ns)
{
	uint32_t now_s = (uint32_t)(now_ns / 1000000000u);
	uint8_t code = time_code(us);

	if (e->n < EXCESS_SLOTS) {
		learn_first(e, code);
		return;
	}
	if (e->n < EXCESS_FIRST) {
		e->base[slot_of(e, code)]++;
		if (++e->n == EXCESS_FIRST)
			refresh(e);
		return;
	}
	if (!e->n_window)
		e->began_s = now_s;
	e->n_window++;
	e->over += us > e->limit_us;
	count(e, slot_of(e, code));
	if (e->n_window >= (e->n < WINDOW ? e->n : WINDOW) && now_s - e->began_s >= WINDOW_S)
		window_close(e, now_s);
}

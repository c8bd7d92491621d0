// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline.h"

enum {
	ABOVE = 2, /* of BASELINE_GROWN, or of the count so far, are above the tail */
	TOLERATED = 5, /* of as many, may be far above it in a window */
	FAULTS_TO_ADOPT = 3, /* the window of a rare route may itself last for a day */
};

uint64_t baseline_limit_us(const struct baseline *b)
{
	uint64_t effect = b->p50_us + BASELINE_EFFECT_US;

	if (!b->known)
		return b->tail_us ? b->tail_us : BASELINE_FIRST_LIMIT_US;
	return b->tail_us > effect ? b->tail_us : effect;
}

static uint64_t far_us(const struct baseline *b)
{
	uint64_t limit = baseline_limit_us(b);

	return limit + limit / 8;
}

static bool is_young(const struct baseline *b)
{
	return b->base.count < BASELINE_GROWN;
}

/* The denominator of shares: a young baseline cannot resolve smaller ones. */
static uint32_t resolution(const struct baseline *b)
{
	return is_young(b) ? b->base.count : BASELINE_GROWN;
}

static void refresh(struct baseline *b)
{
	b->p50_us = hist_quantile(&b->base, 0.50);
	b->tail_us = hist_quantile(&b->base, 1 - (double)ABOVE / resolution(b));
	b->up_p50_us = hist_quantile(&b->up, 0.50);
}

/* For a route that is not known yet: detects one that is slow by design. */
static void refresh_early(struct baseline *b)
{
	b->p50_us = hist_quantile(&b->window, 0.50);
	b->tail_us = hist_quantile(&b->window, 1);
	if (b->window.count < BASELINE_EARLY || b->p50_us <= BASELINE_FIRST_LIMIT_US)
		b->p50_us = b->tail_us = 0;
}

void baseline_restore(struct baseline *b, uint64_t now_ns)
{
	b->known = true;
	b->forgot_ns = now_ns;
	refresh(b);
}

static bool is_faulty(const struct baseline *b)
{
	return (uint64_t)b->far * resolution(b) > (uint64_t)b->window.count * TOLERATED;
}

static void learn_window(struct baseline *b, uint64_t now_ns)
{
	uint64_t limit = baseline_limit_us(b);

	hist_merge(&b->base, &b->window, is_young(b) ? UINT64_MAX : limit + limit / 16);
	b->faults = 0;
	if (b->base.count >= 2 * BASELINE_GROWN && now_ns - b->forgot_ns >= BASELINE_FORGET_NS) {
		hist_halve(&b->base);
		b->forgot_ns = now_ns;
	}
}

/* A faulty window: nothing is learnt or forgotten, until it is adopted as the new baseline. */
static void refuse_window(struct baseline *b, uint64_t now_ns)
{
	b->forgot_ns = now_ns;
	if (b->faults++ == 0)
		b->fault_ns = now_ns;
	if (b->faults < FAULTS_TO_ADOPT || now_ns - b->fault_ns < BASELINE_ADOPT_NS)
		return;
	b->base = b->window;
	b->faults = 0;
}

static void window_close(struct baseline *b, uint64_t now_ns)
{
	if (is_faulty(b))
		refuse_window(b, now_ns);
	else
		learn_window(b, now_ns);
	b->known = true;
	b->window = (struct hist){ 0 };
	b->far = 0;
	refresh(b);
}

static bool window_is_full(const struct baseline *b, uint64_t now_ns)
{
	uint32_t need = b->base.count < BASELINE_WINDOW ? b->base.count : BASELINE_WINDOW;

	if (!b->known)
		return b->window.count >= BASELINE_FIRST;
	if (b->window.count >= HIST_WINDOW / 2)
		return true; /* before it is halved */
	return b->window.count >= need && now_ns - b->window_ns >= BASELINE_WINDOW_NS;
}

void baseline_learn(struct baseline *b, uint64_t us, int64_t up_us, uint64_t now_ns)
{
	if (!b->window.count)
		b->window_ns = now_ns;
	if (b->known && us > far_us(b))
		b->far++;
	if (up_us >= 0 && us <= baseline_limit_us(b))
		hist_add(&b->up, (uint64_t)up_us);
	hist_add(&b->window, us); /* unchanged, as the window may be adopted */
	if (window_is_full(b, now_ns))
		window_close(b, now_ns);
	else if (!b->known)
		refresh_early(b);
}

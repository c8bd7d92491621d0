// SPDX-License-Identifier: Apache-2.0
#include "baseline.h"

enum { WINDOW_MAX = 4096, TOLERATED_PER_1000 = 5 };

uint64_t baseline_limit_us(const struct baseline *b)
{
	uint64_t effect = b->p50_us + BASELINE_EFFECT_US;

	if (!b->known)
		return BASELINE_FIRST_LIMIT_US;
	return b->tail_us > effect ? b->tail_us : effect;
}

static void refresh(struct baseline *b)
{
	b->p50_us = hist_quantile(&b->base, 0.50);
	b->tail_us = hist_quantile(&b->base, 0.998);
	b->up_p50_us = hist_quantile(&b->up, 0.50);
}

void baseline_restore(struct baseline *b, uint64_t now_ns)
{
	b->known = true;
	b->good_ns = now_ns;
	refresh(b);
}

static bool is_faulty(const struct baseline *b)
{
	return b->over > 1 && b->over * 1000ull > b->window.count * (uint64_t)TOLERATED_PER_1000;
}

static void window_close(struct baseline *b, uint64_t now_ns)
{
	if (!b->known || !is_faulty(b)) {
		hist_merge(&b->base, &b->window);
		b->good_ns = now_ns;
	} else if (now_ns - b->good_ns >= BASELINE_ADOPT_NS) {
		b->base = b->window;
		b->good_ns = now_ns;
	}
	b->known = true;
	b->window = (struct hist){ 0 };
	b->over = 0;
	refresh(b);
}

static bool window_is_full(const struct baseline *b, uint64_t now_ns)
{
	if (!b->known || b->window.count >= WINDOW_MAX)
		return b->window.count >= BASELINE_FIRST;
	return now_ns - b->window_ns >= BASELINE_WINDOW_NS && b->window.count >= BASELINE_FIRST;
}

void baseline_learn(struct baseline *b, uint64_t total_us, int64_t up_us, uint64_t now_ns)
{
	bool over = b->known && total_us > baseline_limit_us(b);

	if (!b->window.count)
		b->window_ns = now_ns;
	/*
	 * As it is: a window that is adopted must tell the new truth. One that is merged has next
	 * to none over the limit, and these count as the tail: quantiles round up, so the limit
	 * itself would let the limit creep.
	 */
	hist_add(&b->window, over && !is_faulty(b) ? b->tail_us * 15 / 16 : total_us);
	b->over += over;
	if (up_us >= 0 && !over)
		hist_add(&b->up, (uint64_t)up_us);
	if (window_is_full(b, now_ns))
		window_close(b, now_ns);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/codec/rollup.h"

#include <math.h>

static const double TOO_LARGE = 1e290, FLOAT_ERROR = 1e-7;

struct sums {
	double n, min, max, sum;
};

/* The distinct spans that have ticks. */
static void collect_spans(struct arena *a, const struct chunk *c, double span_us, struct chunk *out)
{
	double *us = arena_alloc(a, (c->nticks + 1) * sizeof(*us));
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nticks; i++) {
		double at = floor(c->tick_us[i] / span_us) * span_us;

		if (!n || us[n - 1] != at)
			us[n++] = at;
	}
	out->tick_us = us;
	out->nticks = n;
}

/* The index of the span of each tick. */
static double *span_numbers(struct arena *a, const struct chunk *c, double span_us,
			    const struct chunk *out)
{
	double *number = arena_alloc(a, (c->nticks + 1) * sizeof(*number));
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->nticks; i++) {
		while (out->tick_us[at] != floor(c->tick_us[i] / span_us) * span_us)
			at++;
		number[i] = at;
	}
	return number;
}

/* Rounds to a float if that loses no more than a float's precision. */
static double as_kept(double sum)
{
	double kept = (double)(float)sum;

	return sum == trunc(sum) || !(fabs(kept - sum) <= FLOAT_ERROR * fabs(sum)) ? sum : kept;
}

static struct sums sums_of(const double *v, uint32_t n)
{
	struct sums s = { .min = NAN, .max = NAN };

	for (uint32_t i = 0; i < n; i++) {
		if (!(fabs(v[i]) < TOO_LARGE))
			continue;
		s.min = s.n == 0 || v[i] < s.min ? v[i] : s.min;
		s.max = s.n == 0 || v[i] > s.max ? v[i] : s.max;
		s.sum += v[i];
		s.n++;
	}
	s.sum = s.n == 0 ? NAN : as_kept(s.sum);
	return s;
}

/* The first row of each span, and the end of all rows as the last element. */
static uint32_t *beginnings(struct arena *a, const struct chunk_entity *e, const double *number,
			    uint32_t *n)
{
	uint32_t *from = arena_alloc(a, (e->n + 2) * sizeof(*from));

	*n = 0;
	for (uint32_t i = 0; i < e->n; i++)
		if (!i || number[(uint32_t)e->tick[i]] != number[(uint32_t)e->tick[i - 1]])
			from[(*n)++] = i;
	from[*n] = e->n;
	return from;
}

static struct chunk_entity roll_entity(struct arena *a, const struct chunk *c,
				       const struct chunk_entity *e, const double *number)
{
	struct chunk_entity out;
	uint32_t *from = beginnings(a, e, number, &out.n);
	double *tick = arena_alloc(a, (out.n + 1) * sizeof(*tick)), *v;

	v = arena_alloc(a, ((size_t)out.n * c->ncolumns * ROLLUP_COLUMNS + 1) * sizeof(*v));
	out.tick = tick;
	out.v = v;
	for (uint32_t i = 0; i < out.n; i++)
		tick[i] = number[(uint32_t)e->tick[from[i]]];
	for (uint32_t m = 0; m < c->ncolumns; m++, v += (size_t)out.n * ROLLUP_COLUMNS)
		for (uint32_t i = 0; i < out.n; i++) {
			struct sums s =
				sums_of(e->v + (size_t)m * e->n + from[i], from[i + 1] - from[i]);

			v[i] = s.n;
			v[out.n + i] = s.min;
			v[2 * (size_t)out.n + i] = s.max;
			v[3 * (size_t)out.n + i] = s.sum;
		}
	return out;
}

void rollup(struct arena *a, const struct chunk *c, uint64_t span_us, struct chunk *out)
{
	struct chunk_entity *e = arena_alloc(a, (c->nentities + 1) * sizeof(*e));
	double *number;

	out->ncolumns = c->ncolumns * ROLLUP_COLUMNS;
	out->nentities = c->nentities;
	collect_spans(a, c, (double)span_us, out);
	number = span_numbers(a, c, (double)span_us, out);
	for (uint32_t i = 0; i < c->nentities; i++)
		e[i] = roll_entity(a, c, &c->entity[i], number);
	out->entity = e;
}

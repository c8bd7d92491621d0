// SPDX-License-Identifier: Apache-2.0
/*
 * limit.c - drops and counts the rows that a node sends beyond its limit per second.
 *
 * Requests are kept first, then events, places, counts, samples, and profiles last. The dropped
 * rows are counted in a sample of kind "coverage" in the same batch, like those that a probe
 * withholds itself, so that every page shows them.
 */
#include "collector/pipeline/stage.h"

enum { REQUESTS, EVENTS, COUNTS, SAMPLES, PROFILES, PLACES, KINDS };

/* The first name is the one that probes use as well: the counts add up. */
static const struct wire_metric metrics[KINDS] = {
	[REQUESTS] = { "rows_withheld", "requests", METRIC_COUNTER },
	[EVENTS] = { "events_withheld", "events", METRIC_COUNTER },
	[COUNTS] = { "counts_withheld", "counts", METRIC_COUNTER },
	[SAMPLES] = { "samples_withheld", "samples", METRIC_COUNTER },
	[PROFILES] = { "profiles_withheld", "profiles", METRIC_COUNTER },
	[PLACES] = { "places_withheld", "places", METRIC_COUNTER },
};

static struct wire_dict own_dict(void)
{
	struct wire_dict d = { .entity_kind = "coverage", .n = KINDS, .metrics = metrics };

	d.layout = wire_layout_id(&d);
	return d;
}

static int limit_open(void *self UNUSED, const struct stage_env *env)
{
	struct wire_dict d = own_dict();

	return layouts_add(env->layouts, &d);
}

static uint32_t cut_rows(uint32_t *n, uint32_t *room)
{
	uint32_t kept = *n < *room ? *n : *room, gone = *n - kept;

	*n = kept;
	*room -= kept;
	return gone;
}

/* Keeps or drops each list of places as a whole: a partial list would end the other places. */
static uint32_t cut_places(struct wire_body *w, uint32_t *room)
{
	uint32_t gone = 0, kept = 0;

	for (uint32_t i = 0; i < w->nplaces; i++) {
		const struct place_item p = w->places[i];

		if (p.n <= *room) {
			*room -= p.n;
			w->places[kept++] = p;
		} else {
			gone += p.n;
		}
	}
	w->nplaces = kept;
	return gone;
}

static void put_sample(struct batch *b, const double gone[static KINDS])
{
	struct wire_body *w = &b->items;
	struct sample_item *samples = arena_alloc(b->arena, (w->nsamples + 1) * sizeof(*samples));
	double *v = arena_alloc(b->arena, KINDS * sizeof(*v));

	memcpy(v, gone, KINDS * sizeof(*v));
	if (w->nsamples)
		memcpy(samples, w->samples, w->nsamples * sizeof(*samples));
	samples[w->nsamples++] = (struct sample_item){
		.layout = own_dict().layout, .entity = "", .n = KINDS, .v = v
	};
	w->samples = samples;
}

static int limit_run(void *self UNUSED, struct batch *b)
{
	struct wire_body *w = &b->items;
	uint32_t room = b->room;
	double gone[KINDS], all = 0;

	gone[REQUESTS] = cut_rows(&w->nrequests, &room);
	gone[EVENTS] = cut_rows(&w->nevents, &room);
	gone[PLACES] = cut_places(w, &room);
	gone[COUNTS] = cut_rows(&w->nreds, &room);
	gone[SAMPLES] = cut_rows(&w->nsamples, &room);
	gone[PROFILES] = cut_rows(&w->nprofiles, &room);
	for (int i = 0; i < KINDS; i++)
		all += gone[i];
	if (all > 0) {
		counter_add(C_ROWS_WITHHELD, (uint64_t)all);
		put_sample(b, gone);
	}
	return STAGE_NEXT;
}

const struct stage stage_limit = {
	.name = "limit",
	.open = limit_open,
	.run = limit_run,
	STAGE_COUNTERS(LIMIT),
};

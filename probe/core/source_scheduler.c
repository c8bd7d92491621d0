// SPDX-License-Identifier: Apache-2.0
#include "probe/core/source_scheduler.h"

#include <assert.h>

#include "lib/base/log.h"

enum { READERS = 64 };

struct reader { /* of one source */
	struct source_scheduler *of;
	const struct source *s;
	size_t source;
	int timer, wakes;
	enum source_pace pace;
};

struct source_scheduler {
	struct loop *loop;
	source_read *read;
	void *arg;
	size_t n;
	struct reader reader[READERS];
};

struct source_scheduler *source_scheduler_begin(struct loop *l, source_read *read, void *arg)
{
	struct source_scheduler *r = calloc(1, sizeof(*r));

	if (!r)
		die("out of memory");
	*r = (struct source_scheduler){ .loop = l, .read = read, .arg = arg };
	return r;
}

void source_scheduler_free(struct source_scheduler *r)
{
	free(r);
}

static uint32_t every_ms(const struct source *s, enum source_pace pace)
{
	switch (pace) {
	case SOURCE_RESTS:
		return s->rest_ms;
	case SOURCE_GOES_ON:
		return s->step_ms;
	case SOURCE_ON_TIME:
		break;
	}
	return s->period_ms;
}

/* A source without rest_ms never rests, and one without step_ms goes on with its next period. */
static void set_pace(struct reader *r, enum source_pace pace)
{
	if (!every_ms(r->s, pace))
		pace = SOURCE_ON_TIME;
	if (pace == r->pace)
		return;
	r->pace = pace;
	loop_set_timer(r->of->loop, r->timer, every_ms(r->s, pace));
	if (r->wakes >= 0)
		loop_mute_fd(r->of->loop, r->wakes, pace != SOURCE_RESTS);
}

static int on_due(void *arg)
{
	struct reader *r = arg;

	set_pace(r, r->of->read(r->of->arg, r->source));
	return 0;
}

/*
 * Does not let the source rest, whatever its read returned: a descriptor that wakes it repeatedly
 * is then read on the source's period.
 */
static int on_wake(void *arg)
{
	struct reader *r = arg;

	(void)r->of->read(r->of->arg, r->source);
	set_pace(r, SOURCE_ON_TIME);
	return 0;
}

void source_scheduler_add(struct source_scheduler *g, size_t source, const struct source *s,
			  int wakes)
{
	struct reader *r = &g->reader[g->n++];

	assert(g->n <= READERS);
	*r = (struct reader){ .of = g, .s = s, .source = source, .wakes = wakes };
	r->timer = loop_add_timer(g->loop, s->period_ms, on_due, r);
	if (wakes < 0)
		return;
	loop_add_fd(g->loop, wakes, on_wake, r);
	loop_mute_fd(g->loop, wakes, true);
}

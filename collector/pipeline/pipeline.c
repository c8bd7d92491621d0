// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/pipeline.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

enum { MAX_STAGES = 8 };

struct pipeline {
	const struct stage *stage[MAX_STAGES];
	void *self[MAX_STAGES];
	size_t n;
};

int pipeline_open(struct pipeline **out, const struct stage *const *stages, size_t n,
		  const struct stage_env *env)
{
	AUTO(pipeline_close) struct pipeline *l = calloc(1, sizeof(*l));

	if (!l || n > MAX_STAGES)
		die("the pipeline cannot hold %zu stages", n);
	for (size_t i = 0; i < n; i++) {
		const struct stage *s = stages[i];
		int r;

		l->self[i] = calloc(1, s->size ? s->size : 1);
		if (!l->self[i])
			die("out of memory");
		l->stage[i] = s;
		l->n = i + 1;
		r = s->open ? s->open(l->self[i], env) : 0;
		if (r < 0)
			return r;
	}
	*out = TAKE(l);
	return 0;
}

int pipeline_run(struct pipeline *l, struct batch *b)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct stage *s = l->stage[i];
		uint64_t t0 = clock_mono_ns();
		int r = s->run(l->self[i], b);

		counter_add(s->ns, clock_mono_ns() - t0);
		counter_add(s->in, 1);
		if (r < 0)
			counter_add(s->failed, 1);
		if (r != STAGE_NEXT)
			return r < 0 ? r : 0;
	}
	return 0;
}

void pipeline_close(struct pipeline *l)
{
	if (!l)
		return;
	for (size_t i = l->n; i-- > 0;) {
		if (l->stage[i]->close)
			l->stage[i]->close(l->self[i]);
		free(l->self[i]);
	}
	free(l);
}

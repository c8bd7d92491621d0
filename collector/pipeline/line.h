// SPDX-License-Identifier: Apache-2.0
/* line.h - stages in order, with a count of what each took and what each refused. */
#pragma once

#include "collector/pipeline/stage.h"

struct line;

int line_open(struct line **out, const struct stage *const *stages, size_t n,
	      const struct stage_env *env) MUST_CHECK;
int line_run(struct line *l, struct batch *b) MUST_CHECK; /* 0, or the first stage's -errno */
void line_close(struct line *l); /* NULL is fine */

DEFINE_AUTO(struct line *, line_close)

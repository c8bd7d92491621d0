// SPDX-License-Identifier: Apache-2.0
/* pipeline.h - runs the stages in order; counts the batches each one took and refused. */
#pragma once

#include "collector/pipeline/stage.h"

struct pipeline;

int pipeline_open(struct pipeline **out, const struct stage *const *stages, size_t n,
		  const struct stage_env *env) MUST_CHECK;
int pipeline_run(struct pipeline *l,
		 struct batch *b) MUST_CHECK; /* 0, or the first stage's -errno */
void pipeline_close(struct pipeline *l); /* NULL is fine */

DEFINE_AUTO(struct pipeline *, pipeline_close)

// SPDX-License-Identifier: Apache-2.0
/*
 * clocks.h - how far the clocks of nodes are off, as their probes told it: stored with its history.
 *
 * In the transaction of the batches, in their order. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

int clocks_store(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

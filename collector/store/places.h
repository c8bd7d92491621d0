// SPDX-License-Identifier: Apache-2.0
/*
 * places.h - what addresses are on the nodes, as their probes told it: stored with its history.
 *
 * In the transaction of the batches, in their order. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

int places_store(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

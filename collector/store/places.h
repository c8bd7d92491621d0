// SPDX-License-Identifier: Apache-2.0
/*
 * places.h - stores the addresses and NAT mappings that probes report, with their history.
 *
 * Runs in the transaction of the batches and in their order. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

int places_store(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

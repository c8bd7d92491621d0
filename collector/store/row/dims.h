// SPDX-License-Identifier: Apache-2.0
/*
 * dims.h - the dimension tables that give ids their meaning: layouts, entities, request keys,
 * sources, nodes.
 *
 * Written in the transaction of the rows that use them. An id is written once and then remembered.
 * After a rollback call dims_forget. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct dims;

struct dims *dims_new(void);
void dims_free(struct dims *d); /* NULL is fine */

int dims_store(struct dims *d, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
void dims_forget(struct dims *d);

uint64_t dims_entity_id(const char *kind, const char *name); /* the same on every node */
uint64_t dims_region_id(const char *name);
int dims_region(struct pg *p, const char *name, uint64_t *id) MUST_CHECK;

DEFINE_AUTO(struct dims *, dims_free)

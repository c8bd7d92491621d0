// SPDX-License-Identifier: Apache-2.0
/*
 * web_where.h - GET /api/v1/where: the hosts where slowness or errors arose, ranked by
 * incident_rank.h.
 */
#pragma once

#include "collector/web/call/web_route.h"

/* $1 from, $2 to, $3 region, $4 node; null: any */
extern const char web_sql_where[], web_sql_where_calls[];

/* Writes the answer from the results of both queries; calls is NULL if it was not ready in
 * time. */
void web_where_put(struct buf *body, const PGresult *res, const PGresult *calls);

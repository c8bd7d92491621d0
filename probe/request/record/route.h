// SPDX-License-Identifier: Apache-2.0
/*
 * route.h - the route of a request: its method and its path without variable parts.
 *
 * "GET /users/42/orders" and "GET /users/43/orders" both become "GET /users/:id/orders". A segment
 * that looks like an identifier (a number, a hex string, a UUID, a long token with digits) becomes
 * ":id"; "v1" and "app.js" stay. Segments beyond ROUTE_SEGMENTS become "*".
 */
#pragma once

#include "lib/base/base.h"

enum { ROUTE_TEXT = 96, ROUTE_SEGMENTS = 6 };

void route_template(const char *method, const char *path, size_t len, char out[static ROUTE_TEXT]);

// SPDX-License-Identifier: Apache-2.0
/* web_routes.h - the table of the API's routes, by path. */
#pragma once

#include "collector/web/call/web_route.h"

/* NULL from the number of routes on. */
const struct web_route *web_route_at(size_t i);
/*
 * The route of url, or NULL where there is none. rest is set to the part of url behind the route's
 * path: the id, with its tail, of a route that answers for one object.
 */
const struct web_route *web_route_find(const char *url, const char **rest);

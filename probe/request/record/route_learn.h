// SPDX-License-Identifier: Apache-2.0
/*
 * route_learn.h - keeps the number of routes small: a part of a path that takes many values becomes
 * ":x".
 *
 * Each app has a tree of the parts of its routes, the method first. Once a place of the tree has
 * more than LEARN_VALUES values it is wide: a new value becomes ":x". Values with LEARN_SETTLED
 * requests by then keep their name if they are at most LEARN_NAMED; of a wide place a value gets a
 * name if it has LEARN_SETTLED of LEARN_WINDOW requests. An app has at most LEARN_ROUTES routes;
 * further ones are "(other)" until some had no request for an hour.
 *
 * Memory is bounded: 32 KiB for an app, LEARN_APPS apps; further apps share one tree. An app idle
 * for an hour makes room for a new one. The input is not trusted: hashes have a random seed, and no
 * app uses the room of another. Nothing is stored: after a restart it is learnt again. One thread.
 */
#pragma once

#include "probe/request/record/route.h"

enum {
	LEARN_VALUES = 50,
	LEARN_ROUTES = 512, /* of an app */
	LEARN_SETTLED = 16,
	LEARN_NAMED = 32,
	LEARN_WINDOW = 256,
	LEARN_APPS = 128,
};

#define ROUTE_OTHER "(other)"

struct route_learner;

struct route_learner *route_learner_new(void);
void route_learner_free(struct route_learner *l); /* NULL is fine */

/* route: of route_template. now_s: seconds of a clock that does not go back. Returns
 * out. */
const char *route_learn(struct route_learner *l, const char *app, const char *route, uint32_t now_s,
			char out[static ROUTE_TEXT]);

size_t route_learner_bytes(const struct route_learner *l); /* its memory */

DEFINE_AUTO(struct route_learner *, route_learner_free)

// SPDX-License-Identifier: Apache-2.0
/*
 * Whatever paths come from whatever apps at whatever times: each part of a route is that of the
 * path or ":x", a text is bounded, and so is memory.
 */
#include <stdio.h>

#include "probe/request/record/route_learn.h"
#include "tests/fuzz/check.h"

static void check_parts(const char *route, const char *out)
{
	const char *end = route + strlen(route);

	for (size_t level = 0; *out; level++) {
		size_t a = strcspn(route, "/"), b = strcspn(out, "/");
		bool any = b >= 2 && memcmp(out, ":x", 2) == 0;

		if (!any && out[b]) /* the last one may be cut */
			must(a == b && memcmp(route, out, a) == 0);
		route += a + (route + a < end);
		out += b + (out[b] != 0);
	}
}

/* Paths of a few letters, so that places get wide and full. */
static void make_path(struct input *in, char *path, size_t size)
{
	uint8_t parts = take8(in) % 9;
	size_t at = 0;

	for (uint8_t i = 0; i < parts && at < size - 8; i++)
		at += (size_t)snprintf(path + at, size - at, "/%c%x", "abz"[take8(in) % 3],
				       take8(in));
	path[at] = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const methods[] = { "GET", "POST", "X", "A-LONG-METHOD-OF-SOMEBODY" };
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	struct input in = { data, len };
	uint32_t now_s = 0;

	while (in.len) {
		char app[8], path[128], route[ROUTE_TEXT], out[ROUTE_TEXT];
		uint8_t what = take8(&in);

		if (what == 255)
			now_s += (uint32_t)take8(&in) << 8;
		snprintf(app, sizeof(app), "%d", what >> 6 ? what >> 5 : take8(&in));
		make_path(&in, path, sizeof(path));
		route_template(methods[what % 4], path, strlen(path), route);
		for (int i = 0; i <= what % 20; i++)
			must(route_learn(l, app, route, now_s, out) == out);
		must(strlen(out) < ROUTE_TEXT);
		if (strcmp(out, ROUTE_OTHER) != 0)
			check_parts(route, out);
	}
	must(route_learner_bytes(l) < 5 << 20);
	return 0;
}

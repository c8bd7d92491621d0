// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_health.h"

#include <time.h>

#include "lib/base/json.h"
#include "collector/core/engine_state.h"

static void put_engine(struct buf *out, const struct engine_state *s)
{
	char since[32];
	time_t at = (time_t)s->since_s;
	struct tm tm;

	gmtime_r(&at, &tm);
	strftime(since, sizeof(since), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_raw(out, "{\"engine\":");
	json_text(out, s->name);
	json_raw(out, ",\"since\":");
	json_text(out, since);
	json_raw(out, ",\"why\":");
	json_text(out, s->why);
	json_raw(out, "}");
}

/* Engines that are behind, as a list without brackets. */
static void put_behind(struct buf *out)
{
	for (enum engine_name e = 0; e < ENGINES; e++) {
		struct engine_state s;

		engine_read(e, &s);
		if (!s.since_s)
			continue;
		json_raw(out, out->len ? "," : "");
		put_engine(out, &s);
	}
}

void web_health_text(struct buf *out, const char *version, const char *database)
{
	struct buf behind = { 0 };

	put_behind(&behind);
	json_raw(out, "{\"status\":");
	json_text(out, strcmp(database, "ok") == 0 && !behind.len ? "ok" : "degraded");
	json_raw(out, ",\"version\":");
	json_clean_text(out, version);
	json_raw(out, ",\"parts\":{\"web\":\"ok\",\"database\":");
	json_clean_text(out, database);
	json_raw(out, "}");
	if (behind.len) {
		json_raw(out, ",\"behind\":[");
		buf_put(out, behind.data, behind.len);
		json_raw(out, "]");
	}
	json_raw(out, "}\n");
	buf_free(&behind);
}

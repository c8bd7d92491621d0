// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_health.h"

#include <stdio.h>
#include <time.h>

#include "lib/base/json.h"
#include "collector/core/clock_check.h"
#include "collector/core/counters.h"
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

static void put_hold(struct buf *out)
{
	char text[64];

	snprintf(text, sizeof(text), "held: %s", clock_fault_name(clock_published()));
	json_text(out, text);
}

static void put_warnings(struct buf *out)
{
	uint64_t full_s = counter_get(C_DISK_FULL_SECONDS), day_s = 86400;
	char text[96] = "";

	if (counter_get(C_DISK_REFUSING))
		snprintf(text, sizeof(text),
			 "the database's disk is at its limit; batches wait on their nodes");
	else if (counter_get(C_DISK_DROPPING))
		snprintf(text, sizeof(text),
			 "the database's disk is near its limit; old data is dropped");
	else if (counter_get(C_DISK_LIMIT_BYTES) && full_s < 7 * day_s)
		snprintf(text, sizeof(text), "the database's disk reaches its limit in %.1f days",
			 (double)full_s / (double)day_s);
	if (!*text)
		return;
	json_raw(out, ",\"warnings\":[");
	json_text(out, text);
	json_raw(out, "]");
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
	if (clock_published() != CLOCK_OK) {
		json_raw(out, ",\"retention\":");
		put_hold(out);
	}
	json_raw(out, "}");
	put_warnings(out);
	if (behind.len) {
		json_raw(out, ",\"behind\":[");
		buf_put(out, behind.data, behind.len);
		json_raw(out, "]");
	}
	json_raw(out, "}\n");
	buf_free(&behind);
}

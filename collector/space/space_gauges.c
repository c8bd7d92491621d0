// SPDX-License-Identifier: Apache-2.0
#include "collector/space/space_gauges.h"

#include <inttypes.h>

#include "lib/base/log.h"
#include "collector/core/counters.h"

static const struct {
	const char *table;
	enum counter gauge;
} tables[] = {
	{ "request", C_TABLE_REQUEST },
	{ "evidence", C_TABLE_EVIDENCE },
	{ "event", C_TABLE_EVENT },
	{ "profile", C_TABLE_PROFILE },
	{ "sample", C_TABLE_SAMPLE },
	{ "sample_raw", C_TABLE_SAMPLE_RAW },
	{ "sealed", C_TABLE_SEALED },
	{ "sample_1m", C_TABLE_SAMPLE_1M },
	{ "sample_10m", C_TABLE_SAMPLE_10M },
	{ "sample_1h", C_TABLE_SAMPLE_1H },
	{ "red", C_TABLE_RED },
	{ "red_10m", C_TABLE_RED_10M },
	{ "red_1m", C_TABLE_RED_1M },
	{ "unread", C_TABLE_UNREAD },
	{ "stack", C_TABLE_STACK },
	{ "outbox", C_TABLE_OUTBOX },
	{ "quarantine", C_TABLE_QUARANTINE },
};

int space_read_tables(struct pg *p, uint64_t database)
{
	AUTO(PQclear) PGresult *res = NULL;
	int r = pg_ask(p, "select name, bytes from disk_tables()", &(struct pg_args){ 0 }, &res);
	uint64_t named = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		uint64_t bytes = 0;

		for (int k = 0; k < PQntuples(res); k++)
			if (strcmp(PQgetvalue(res, k, 0), tables[i].table) == 0)
				bytes = strtoull(PQgetvalue(res, k, 1), NULL, 10);
		counter_set(tables[i].gauge, bytes);
		named += bytes;
	}
	counter_set(C_TABLE_OTHER, database > named ? database - named : 0);
	return 0;
}

void space_set_gauges(const struct disk_sizes *s, const struct disk_bounds *b,
		      struct disk_state state, int64_t full_s)
{
	counter_set(C_DISK_LIMIT_BYTES, b->allowed);
	counter_set(C_DISK_FREE_BYTES, s->avail);
	counter_set(C_DISK_FULL_SECONDS, full_s < 0 ? DISK_NEVER : (uint64_t)full_s);
	counter_set(C_DISK_DROPPING, state.dropping);
	counter_set(C_DISK_REFUSING, state.refusing);
}

void space_count_drop(const PGresult *res, int row)
{
	static const struct {
		const char *name;
		enum counter rows, bytes;
	} steps[] = {
		{ "profiles", C_DISK_ROWS_PROFILES, C_DISK_BYTES_PROFILES },
		{ "samples", C_DISK_ROWS_SAMPLES, C_DISK_BYTES_SAMPLES },
		{ "counts", C_DISK_ROWS_COUNTS, C_DISK_BYTES_COUNTS },
		{ "the commonest group", C_DISK_ROWS_COMMONEST, C_DISK_BYTES_COMMONEST },
		{ "the oldest hours", C_DISK_ROWS_HOURS, C_DISK_BYTES_HOURS },
	};
	size_t step = (size_t)atoi(PQgetvalue(res, row, 0)) - 1;
	uint64_t rows = strtoull(PQgetvalue(res, row, 4), NULL, 10);
	int64_t bytes = strtoll(PQgetvalue(res, row, 6), NULL, 10);

	if (step >= ARRAY_SIZE(steps))
		return;
	counter_add(steps[step].rows, rows);
	counter_add(steps[step].bytes, bytes > 0 ? (uint64_t)bytes : 0);
	log_warn(0,
		 "the database's disk is near its limit: dropped %s%" PRIu64 " rows (%" PRId64
		 " MB) of table %s from %s to %s UTC (%s%s%s)",
		 *PQgetvalue(res, row, 5) == 't' ? "" : "about ", rows, bytes / 1000000,
		 PQgetvalue(res, row, 1), PQgetvalue(res, row, 2), PQgetvalue(res, row, 3),
		 steps[step].name, *PQgetvalue(res, row, 7) ? ": " : "", PQgetvalue(res, row, 7));
}

// SPDX-License-Identifier: Apache-2.0
/*
 * incident_engine.h - state shared by the files of the correlator thread, and its connection.
 *
 * The database is authoritative: after any failure call engine_forget, and everything is read
 * again. Functions return pg.h's errors.
 */
#pragma once

#include "collector/incident/model/incident_set.h"
#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

enum { ENGINE_NAME = 128, ENGINE_NEIGHBORS = 256 };

struct engine_region {
	uint64_t id;
	char name[64];
	int64_t now_us; /* time of its newest data */
	double nodes;
	bool relayed; /* a relay reports its incidents as well */
};

struct engine_node {
	uint64_t region;
	char name[ENGINE_NAME];
};

struct engine {
	struct pg *pg;
	const struct incident_limits *limits;
	struct incident_steps steps;
	struct incident_set *set; /* NULL: must be loaded */
	int64_t mark_us, command_us; /* rows are counted up to mark_us; command_us: time of the last
					command */
	bool full; /* the last read hit its row limit */
	struct pairmap *seen; /* rows close to the mark, by id and begin: when they were stored */
	struct pairmap *nodes; /* struct engine_node by id */
	struct engine_region *region;
	size_t nregions;
	int64_t newest_us, nodes_us, forgot_us; /* newest_us: of all regions; nodes_us: nodes were
						 * read; forgot_us: signals were dropped */
	int64_t slowdowns_us; /* slowdowns were searched up to here; 0: not yet */
	struct incident_report *reports; /* reports of regions that are not imported yet */
	size_t nreports;
	bool reports_full; /* there are more reports */
	int careful; /* > 0: each item of the next so many passes has a savepoint */
	unsigned skipped; /* items that the current pass skipped */
	bool merged; /* merged incidents must be folded, and everything is read again */
};

/* incident_engine.c */
void engine_forget(struct engine *e);
void engine_forget_reports(struct engine *e);
void engine_close(struct engine *e);

/*
 * incident_item.c. A pass that the database refuses is repeated with care: then each item (an
 * incident, a signal, a report, a slowdown) is refused alone. engine_item_begin and engine_item_end
 * surround it; without care they do nothing. engine_item_end returns 0 for an item that is skipped.
 */
int engine_item_begin(struct engine *e) MUST_CHECK;
int engine_item_end(struct engine *e, int r, const char *kind, uint64_t id,
		    const char *text) MUST_CHECK;

/* incident_load.c */
void engine_open(struct engine *e, struct pg *pg, const struct incident_limits *limits);
/* engine_begin starts a transaction that locks out other writers. */
int engine_begin(struct engine *e) MUST_CHECK;
int engine_load(struct engine *e) MUST_CHECK;
/* incident_read.c */
int engine_read_regions(struct engine *e) MUST_CHECK;
int engine_read_rows(struct engine *e) MUST_CHECK;
const struct engine_node *engine_node(const struct engine *e, uint64_t id); /* NULL: unknown */
const struct engine_region *engine_region(const struct engine *e, uint64_t id);
/* incident_join.c */
int engine_join(struct engine *e) MUST_CHECK;
int engine_find_neighbors(struct engine *e, const uint64_t *node, size_t n, int64_t now_us,
			  uint64_t neighbors[static ENGINE_NEIGHBORS],
			  size_t *nneighbors) MUST_CHECK;
int engine_open_signal(struct engine *e, struct signal *g,
		       const struct engine_region *region) MUST_CHECK;
/* Whether to wait for the region's own report before opening g. */
bool engine_waits_for_region(const struct engine *e, struct signal *g,
			     const struct engine_region *region);
/* incident_import.c. Read the reports before everything else, import them after. */
int engine_read_reports(struct engine *e) MUST_CHECK;
int engine_import_reports(struct engine *e) MUST_CHECK;
/* incident_slowdown.c */
int engine_read_slowdowns(struct engine *e) MUST_CHECK;
/* incident_rank_job.c */
int engine_rank_incidents(struct engine *e) MUST_CHECK;
/* incident_write.c: in one transaction, with the mark. */
int engine_write(struct engine *e) MUST_CHECK;
void engine_on_step(void *engine, struct incident *i, int64_t at_us, const char *kind,
		    const struct signal *g, const struct incident *other);
void engine_add_step(struct incident *i, int64_t at_us, const char *kind, const char *who,
		     const struct buf *detail);

/* Fields of a row in binary format. */
int64_t engine_int8(const PGresult *row, int column);
int64_t engine_time(const PGresult *row, int column); /* us since 1970 */
double engine_float8(const PGresult *row, int column);
void engine_text(char *out, size_t size, const PGresult *row, int column); /* truncated to fit */
void engine_ids(struct buf *b, const uint64_t *id, size_t n); /* as the text {1,2} */

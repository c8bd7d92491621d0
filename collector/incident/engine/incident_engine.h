// SPDX-License-Identifier: Apache-2.0
/*
 * incident_engine.h - what the files of the correlating thread share: memory, and a connection.
 *
 * The database is the truth: whatever fails, engine_forget, and all is read anew. Functions answer
 * pg.h's errors.
 */
#pragma once

#include "collector/incident/model/incident_set.h"
#include "collector/core/pairmap.h"
#include "collector/db/pg.h"

enum { ENGINE_NAME = 128, ENGINE_NEAR = 256 };

struct engine_region {
	uint64_t id;
	char name[64];
	int64_t now_us; /* its newest data */
	double nodes;
	bool relayed; /* who relays it tells its incidents, too */
};

struct engine_node {
	uint64_t region;
	char name[ENGINE_NAME];
};

struct engine {
	struct pg *pg;
	const struct incident_limits *limits;
	struct incident_steps steps;
	struct incident_set *set; /* NULL: forgotten */
	int64_t mark_us, command_us; /* rows up to here are counted; when a person decided last */
	bool full; /* the last reading ended at its limit */
	struct pairmap *seen; /* rows near the mark, by id and begin: when they were stored */
	struct pairmap *nodes; /* by id */
	struct engine_region *region;
	size_t nregions;
	int64_t newest_us, nodes_us, forgot_us; /* of all regions; when nodes were read, ... */
	int64_t means_us; /* up to here means were looked at; 0: not yet */
	struct buf taken; /* steps that are to be written, as JSON */
	struct incident_telling *told; /* what regions told, and is not taken yet */
	size_t ntold;
	bool told_full; /* there is more of that */
	size_t adopted; /* so many of these the pass at hand takes, */
	int refused; /* and so many before it, one after the other, that took some were refused */
	bool merged; /* the rows of merged ones are to be folded, and all is read anew */
};

void engine_open(struct engine *e, struct pg *pg, const struct incident_limits *limits);
void engine_forget(struct engine *e);
void engine_close(struct engine *e);

/* incident_load.c; begin: a transaction, in which nobody else decides */
int engine_begin(struct engine *e) MUST_CHECK;
int engine_load(struct engine *e) MUST_CHECK;
/* incident_read.c */
int engine_read_regions(struct engine *e) MUST_CHECK;
int engine_read_rows(struct engine *e) MUST_CHECK;
const struct engine_node *engine_node(const struct engine *e, uint64_t id); /* NULL: not known */
const struct engine_region *engine_region(const struct engine *e, uint64_t id);
/* incident_join.c */
int engine_join(struct engine *e) MUST_CHECK;
int engine_near(struct engine *e, const uint64_t *node, size_t n, int64_t now_us,
		uint64_t near[static ENGINE_NEAR], size_t *nnear) MUST_CHECK;
int engine_open_signal(struct engine *e, struct signal *g,
		       const struct engine_region *region) MUST_CHECK;
/* Whether it is left to its region for a while yet to tell of it. */
bool engine_waits(const struct engine *e, struct signal *g, const struct engine_region *region);
/* incident_import.c: before all else is read, and after */
int engine_read_told(struct engine *e) MUST_CHECK;
int engine_adopt(struct engine *e) MUST_CHECK;
void engine_forget_told(struct engine *e);
/* After a pass that answered r, and outside of its transaction: what regions told is left out until
 * they tell it anew, if it seems to be what the database refuses. 1: it was. */
int engine_blame_told(struct engine *e, int r) MUST_CHECK;
/* incident_slowdown.c */
int engine_read_means(struct engine *e) MUST_CHECK;
/* incident_rank_job.c */
int engine_blame(struct engine *e) MUST_CHECK;
/* incident_write.c: in one transaction, with the mark */
int engine_write(struct engine *e) MUST_CHECK;
void engine_take(void *engine, struct incident *i, int64_t at_us, const char *kind,
		 const struct signal *g, const struct incident *other);
void engine_step(struct engine *e, struct incident *i, int64_t at_us, const char *kind,
		 const char *who, const struct buf *detail);

/* A field of a row in binary. */
int64_t engine_int8(const PGresult *row, int column);
int64_t engine_time(const PGresult *row, int column); /* us since 1970 */
double engine_float8(const PGresult *row, int column);
void engine_text(char *out, size_t size, const PGresult *row, int column); /* cut, if need be */
void engine_ids(struct buf *b, const uint64_t *id, size_t n); /* {1,2}, as a text */

// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/usym.h"

#include <limits.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/symbol/user/perf_map.h"
#include "probe/symbol/user/usym_frame.h"

enum {
	OPENS = 64, /* new files opened for one process */
	LOOKS = 64, /* processes remembered as read */
	LINES_AT_ONCE = 16, /* of mappings, between two looks at the clock */
	LEAST_BYTES = 2048, /* charged for any piece of work */
	BYTES_PER_US = 256, /* CPU time as bytes: reading symbols is about this fast */
};

enum phase { PHASE_LOCATE, PHASE_FILE, PHASE_SYMBOLS, PHASE_MAP, PHASE_DONE };

struct usym {
	char procfs[PATH_MAX - 64];
	struct usym_files *files;
	uint32_t looked[LOOKS], to_look; /* to_look: a process with unknown files, to be read */
	uint32_t look_opens;
	struct proc_code look, scan; /* the mappings of to_look, and of pid */
	enum phase phase;
	bool places; /* not the frames of one stack */
	uint32_t pid, n, opens;
	struct usym_frame frame[USYM_FRAMES];
	int fd; /* of the file being read, or -1 */
	struct foreign_id id; /* of that file */
	struct elf_file elf;
	struct perf_map map;
	uint32_t nlookups;
	struct usym_frame *frame_of[USYM_FRAMES];
	struct symbol_lookup lookup[USYM_FRAMES];
};

struct usym *usym_new(const char *procfs)
{
	struct usym *u = calloc(1, sizeof(*u));

	if (!u)
		die("out of memory");
	snprintf(u->procfs, sizeof(u->procfs), "%s", procfs);
	u->files = usym_files_new(procfs);
	u->fd = -1;
	u->phase = PHASE_DONE;
	return u;
}

static void close_file(struct usym *u)
{
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
}

void usym_free(struct usym *u)
{
	if (!u)
		return;
	close_file(u);
	proc_code_end(&u->look);
	proc_code_end(&u->scan);
	usym_files_free(u->files);
	free(u);
}

void usym_notice(struct usym *u, uint32_t pid, const struct req_frame *frame, uint32_t n)
{
	const uint8_t *last = NULL;

	if (u->to_look || u->looked[pid % LOOKS] == pid)
		return;
	for (uint32_t i = 0; i < n && i < USYM_FRAMES; i++) {
		const uint8_t *id = frame[i].build_id;

		if (frame[i].status != USYM_BY_ID || (last && !memcmp(last, id, ELF_FILE_ID)))
			continue;
		if (!usym_files_by_id(u->files, id)) {
			u->to_look = pid;
			return;
		}
		last = id;
	}
}

static const struct code_file *file_of(struct usym *u, uint32_t pid, const struct mapping *m,
				       uint32_t *opens)
{
	if (!m->ino || m->path[0] != '/')
		return NULL;
	return usym_files_of(u->files, pid, m, opens);
}

/* Records the files of a process that may end before its frames are looked up. */
static void look_at_process(struct usym *u)
{
	uint32_t lines = LINES_AT_ONCE;
	struct mapping m;
	int r = 1;

	if (!u->look.fd) {
		u->looked[u->to_look % LOOKS] = u->to_look;
		u->look_opens = OPENS;
		r = proc_code_begin(&u->look, u->procfs, u->to_look) < 0 ? -ENOENT : 1;
	}
	if (r > 0)
		r = proc_code_next(&u->look, u->procfs, &lines, &m);
	if (r > 0)
		file_of(u, u->to_look, &m, &u->look_opens);
	if (r < 0)
		u->to_look = 0;
}

static void begin_lookup(struct usym *u, uint32_t pid, const struct req_frame *frame, uint32_t n)
{
	close_file(u);
	proc_code_end(&u->scan);
	u->pid = pid;
	u->n = n < USYM_FRAMES ? n : USYM_FRAMES;
	for (uint32_t i = 0; i < u->n; i++)
		u->frame[i] = (struct usym_frame){ .at = frame[i],
						   .code = frame[i].status == USYM_BY_ID,
						   .offset = frame[i].where,
						   .from = frame[i].where,
						   .to = frame[i].where + 1 };
	u->phase = PHASE_LOCATE;
}

void usym_begin(struct usym *u, uint32_t pid, const struct req_frame *frame, uint32_t n)
{
	u->places = false;
	begin_lookup(u, pid, frame, n);
}

void usym_begin_places(struct usym *u, uint32_t pid, const struct req_frame *place, uint32_t n)
{
	u->places = true;
	begin_lookup(u, pid, place, n);
}

static void locate_in(struct usym *u, const struct mapping *m)
{
	const struct code_file *c = NULL;
	bool tried = false;

	for (uint32_t i = 0; i < u->n; i++) {
		struct usym_frame *f = &u->frame[i];
		bool by_id = f->at.status == USYM_BY_ID;

		if (by_id ? f->serial != 0 : f->at.where < m->start || f->at.where >= m->end)
			continue;
		if (!tried)
			c = file_of(u, u->pid, m, &u->opens);
		tried = true;
		if (!by_id) {
			usym_frame_lies_in(f, m, c);
		} else if (c && !memcmp(c->build_id, f->at.build_id, ELF_FILE_ID)) {
			usym_frame_is_of(f, c, m->path);
		}
	}
}

static void end_locate(struct usym *u, bool gone)
{
	for (uint32_t i = 0; i < u->n; i++) {
		struct usym_frame *f = &u->frame[i];
		const struct code_file *c;

		f->code |= gone;
		if (f->serial || f->at.status != USYM_BY_ID)
			continue;
		c = usym_files_by_id(u->files, f->at.build_id);
		if (c)
			usym_frame_is_of(f, c, c->map.path);
	}
}

/* One mapping, or some lines without one. */
static enum phase locate(struct usym *u)
{
	uint32_t lines = LINES_AT_ONCE;
	bool gone = false;
	struct mapping m;
	int r = 1;

	if (!u->scan.fd) {
		u->opens = OPENS;
		gone = proc_code_begin(&u->scan, u->procfs, u->pid) < 0;
	}
	if (!gone)
		r = proc_code_next(&u->scan, u->procfs, &lines, &m);
	if (!gone && r > 0)
		locate_in(u, &m);
	if (!gone && r >= 0)
		return PHASE_LOCATE;
	end_locate(u, gone);
	return PHASE_FILE;
}

/* A return address may lie behind the end of the calling function, so one byte less is looked up.
 */
static uint64_t lookup_offset(const struct usym *u, const struct usym_frame *f)
{
	return f->offset - (f != u->frame && f->offset && !u->places);
}

static void take_known_names(struct usym *u)
{
	for (uint32_t i = 0; i < u->n; i++) {
		struct usym_frame *f = &u->frame[i];
		const struct code_function *fn = NULL;

		if (f->serial && !f->done)
			fn = usym_files_function(u->files, f->serial, lookup_offset(u, f));
		if (fn)
			usym_frame_take(f, fn);
	}
}

static void look_up_all_of(struct usym *u, uint32_t serial)
{
	u->nlookups = 0;
	for (uint32_t i = 0; i < u->n; i++) {
		struct usym_frame *f = &u->frame[i];

		if (f->serial != serial || f->done)
			continue;
		u->frame_of[u->nlookups] = f;
		f->code = elf_file_lookup(&u->elf, lookup_offset(u, f), &u->lookup[u->nlookups]);
		f->done = !f->code;
		u->nlookups += f->code;
	}
}

static struct usym_frame *next_in_a_file(struct usym *u)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (u->frame[i].serial && !u->frame[i].done)
			return &u->frame[i];
	return NULL;
}

static void give_up_file(struct usym *u, uint32_t serial)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (u->frame[i].serial == serial)
			u->frame[i].done = true;
}

/* Looks up the frames in anonymous memory, by the perf map of their runtime. */
static enum phase begin_map(struct usym *u)
{
	u->nlookups = 0;
	for (uint32_t i = 0; i < u->n; i++) {
		struct usym_frame *f = &u->frame[i];

		if (!f->runtime)
			continue;
		u->frame_of[u->nlookups] = f;
		u->lookup[u->nlookups++] =
			(struct symbol_lookup){ .addr = f->at.where - (i > 0 && !u->places) };
	}
	if (!u->nlookups)
		return PHASE_DONE;
	u->fd = proc_code_open_perf_map(u->procfs, u->pid, &u->id);
	if (u->fd < 0)
		return PHASE_DONE;
	perf_map_open(&u->map, u->fd);
	return PHASE_MAP;
}

static enum phase begin_file(struct usym *u)
{
	const struct code_file *c;
	const struct usym_frame *f;

	take_known_names(u);
	f = next_in_a_file(u);
	if (!f)
		return begin_map(u);
	c = usym_files_at(u->files, f->serial);
	if (!c || usym_files_open(u->files, u->pid, c, &u->elf, &u->id) < 0) {
		give_up_file(u, f->serial);
		return PHASE_FILE;
	}
	u->fd = u->elf.fd;
	look_up_all_of(u, f->serial);
	if (u->nlookups)
		return PHASE_SYMBOLS;
	close_file(u);
	return PHASE_FILE;
}

/* Caches the function by its offsets in the file, limited to valid offsets. */
static void keep_function(struct usym *u, const struct usym_frame *f, const struct symbol_lookup *a,
			  struct code_function *fn)
{
	uint64_t at = lookup_offset(u, f), below = a->addr - a->start, above = a->end - a->addr;

	*fn = (struct code_function){ .serial = f->serial,
				      .start = below < at ? at - below : 0,
				      .end = above < UINT64_MAX - at ? at + above : UINT64_MAX };
	if (a->found)
		memcpy(fn->name, a->name, sizeof(fn->name));
	usym_files_keep(u->files, fn);
}

static enum phase end_symbols(struct usym *u)
{
	for (uint32_t i = 0; i < u->nlookups; i++) {
		struct code_function fn;

		keep_function(u, u->frame_of[i], &u->lookup[i], &fn);
		usym_frame_take(u->frame_of[i], &fn);
	}
	close_file(u);
	return PHASE_FILE;
}

static enum phase end_map(struct usym *u)
{
	for (uint32_t i = 0; i < u->nlookups; i++) {
		struct usym_frame *f = u->frame_of[i];

		f->plus = f->at.where - u->lookup[i].start;
		if (!u->lookup[i].found)
			continue;
		memcpy(f->name, u->lookup[i].name, sizeof(f->name));
		f->from = u->lookup[i].start;
		f->to = u->lookup[i].end;
	}
	close_file(u);
	return PHASE_DONE;
}

/* A file that ended early is not opened again for a while. */
static void refuse_file(struct usym *u, enum foreign_kind kind, int r)
{
	if (r < 0)
		foreign_refuse(kind, r, u->procfs, u->pid, &u->id);
}

static enum phase advance(struct usym *u, size_t bytes)
{
	int r;

	switch (u->phase) {
	case PHASE_LOCATE:
		return locate(u);
	case PHASE_FILE:
		return begin_file(u);
	case PHASE_SYMBOLS:
		r = elf_file_step(&u->elf, u->lookup, u->nlookups, bytes);
		refuse_file(u, FOREIGN_CODE, r);
		return r ? end_symbols(u) : PHASE_SYMBOLS;
	case PHASE_MAP:
		r = perf_map_step(&u->map, u->lookup, u->nlookups, bytes);
		refuse_file(u, FOREIGN_PERF_MAP, r);
		return r ? end_map(u) : PHASE_MAP;
	case PHASE_DONE:
		break;
	}
	return PHASE_DONE;
}

static size_t position(const struct usym *u)
{
	if (u->phase == PHASE_SYMBOLS)
		return (size_t)u->elf.table.symbol_at;
	return u->phase == PHASE_MAP ? (size_t)u->map.taken : 0;
}

/* What one piece of work cost: bytes read, or its CPU time where that is more. */
static void charge(size_t *bytes, size_t used, uint64_t began_ns)
{
	size_t time = (size_t)((clock_cpu_ns() - began_ns) * BYTES_PER_US / 1000);

	used = used > LEAST_BYTES ? used : LEAST_BYTES;
	used = used > time ? used : time;
	*bytes -= *bytes < used ? *bytes : used;
}

int usym_step(struct usym *u, size_t *bytes)
{
	while (*bytes && u->to_look) {
		uint64_t began = clock_cpu_ns();

		look_at_process(u);
		charge(bytes, 0, began);
	}
	while (*bytes && u->phase != PHASE_DONE) {
		enum phase was = u->phase;
		size_t before = position(u), used = 0;
		uint64_t began = clock_cpu_ns();

		u->phase = advance(u, *bytes);
		if (was == u->phase)
			used = position(u) - before;
		charge(bytes, used, began);
	}
	return u->phase == PHASE_DONE;
}

uint32_t usym_frames(const struct usym *u)
{
	uint32_t n = u->n ? 1 : 0;

	while (n < u->n && u->frame[n].code)
		n++;
	return n;
}

const char *usym_frame(const struct usym *u, uint32_t i, char text[static USYM_TEXT])
{
	usym_frame_text(&u->frame[i], text);
	return text;
}

int usym_function(const struct usym *u, uint32_t i, char text[static USYM_TEXT], uint64_t *from,
		  uint64_t *to)
{
	const struct usym_frame *f = &u->frame[i];

	if (!f->code)
		return -ENXIO;
	if (f->at.status == USYM_BY_ID && !f->serial)
		return -ENOENT;
	usym_frame_function(f, text);
	*from = f->from;
	*to = f->to;
	return 0;
}

bool usym_is_whole(const struct usym *u)
{
	uint32_t n = usym_frames(u);

	return n > 1 && n == u->n && n < USYM_FRAMES &&
	       usym_frame_begins(&u->frame[n - 1], &u->frame[n - 2]);
}

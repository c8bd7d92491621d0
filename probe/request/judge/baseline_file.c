// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/daemon/state_file.h"

#define SAVE_NS (60 * 1000000000ull)

struct baseline_file {
	char path[PATH_MAX];
	struct detect *detect;
	struct state_file file; /* closed: nothing is written */
	uint64_t next_ns, refused, unsaved;
	bool failing; /* the last write failed, and that was logged */
	pthread_t thread;
	bool writing; /* thread must be joined; it owns body until done */
	atomic_bool done;
	struct buf body;
	int result;
};

static void load_file(struct baseline_file *k)
{
	int r = state_file_read(&k->file, &k->body);

	if (r == 0)
		r = detect_load(k->detect, k->body.data, k->body.len, clock_wall_ns());
	buf_free(&k->body);
	if (r == 0 || r == -ENOENT)
		return;
	k->refused++;
	if (r == -EEXIST) {
		log_warn(0,
			 "%s is not a file of seismo-probe: left unchanged, and baselines are "
			 "learnt from scratch; set another path with --state",
			 k->path);
		state_file_close(&k->file);
	} else {
		log_warn(0,
			 "%s cannot be used (%s): baselines are learnt from scratch, and the file "
			 "is replaced",
			 k->path, r == -EBADMSG ? "damaged" : strerror(-r));
	}
}

struct baseline_file *baseline_file_open(const char *path, struct detect *d)
{
	struct baseline_file *k;
	int r;

	if (!path[0])
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		die("out of memory");
	snprintf(k->path, sizeof(k->path), "%s", path);
	k->detect = d;
	k->next_ns = clock_mono_ns() + SAVE_NS;
	r = state_file_open(&k->file, path);
	if (r == 0) {
		load_file(k);
	} else {
		k->refused++;
		log_warn(r, "cannot store baselines in %s; create its directory", path);
	}
	return k;
}

static void *write_body(void *arg)
{
	struct baseline_file *k = arg;

	k->result = state_file_write(&k->file, &k->body, true);
	atomic_store_explicit(&k->done, true, memory_order_release);
	return NULL;
}

static void note_result(struct baseline_file *k, int r)
{
	k->unsaved += r < 0;
	if (r < 0 && !k->failing)
		log_warn(r, "cannot write baselines to %s; will retry", k->path);
	else if (r == 0 && k->failing)
		log_info("baselines are written to %s again", k->path);
	k->failing = r < 0;
}

/* Ends a write that is complete; wait: waits for it. False: it is still running. */
static bool finish_write(struct baseline_file *k, bool wait)
{
	if (!k->writing)
		return true;
	if (!wait && !atomic_load_explicit(&k->done, memory_order_acquire))
		return false;
	pthread_join(k->thread, NULL);
	k->writing = false;
	buf_free(&k->body);
	note_result(k, k->result);
	return true;
}

static void start_write(struct baseline_file *k)
{
	int r;

	buf_reset(&k->body);
	detect_save(k->detect, &k->body, clock_wall_ns());
	atomic_store(&k->done, false);
	r = pthread_create(&k->thread, NULL, write_body, k);
	k->writing = r == 0;
	if (r != 0)
		note_result(k, -r);
}

void baseline_file_tick(struct baseline_file *k, uint64_t now_ns)
{
	if (!k || k->file.dir < 0 || !finish_write(k, false) || now_ns < k->next_ns)
		return;
	k->next_ns = now_ns + SAVE_NS;
	start_write(k);
}

void baseline_file_close(struct baseline_file *k)
{
	if (!k)
		return;
	finish_write(k, true);
	if (k->file.dir >= 0) {
		start_write(k);
		finish_write(k, true);
	}
	state_file_close(&k->file);
	buf_free(&k->body); /* if the thread could not be started */
	free(k);
}

uint64_t baseline_file_refused(const struct baseline_file *k)
{
	return k ? k->refused : 0;
}

uint64_t baseline_file_unsaved(const struct baseline_file *k)
{
	return k ? k->unsaved : 0;
}

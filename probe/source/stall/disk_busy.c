// SPDX-License-Identifier: Apache-2.0
#include "probe/source/stall/disk_busy.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "probe/procfs/proc_text.h"

/* The columns after the name; older kernels have fewer. */
enum { READS, READ_MS = 3, WRITES, WRITE_MS = 7, IN_FLIGHT, BUSY_MS, QUEUE_MS, DISCARDS };
enum { DISCARD_MS = 14, FLUSHES, FLUSH_MS, COLUMNS };

struct disk {
	char name[DISK_BUSY_NAME];
	double first[COLUMNS], last[COLUMNS];
};

struct disk_watch {
	char *procfs, *sysfs;
	bool has_sys_block;
	struct buf text;
	struct disk disk[DISK_BUSY_MAX];
	uint32_t n, scans;
	uint64_t first_ns, last_ns;
};

struct disk_watch *disk_watch_new(const char *procfs, const char *sysfs)
{
	struct disk_watch *w = calloc(1, sizeof(*w));
	char path[PATH_MAX];

	if (!w)
		return NULL;
	w->procfs = strdup(procfs);
	w->sysfs = strdup(sysfs);
	if (!w->procfs || !w->sysfs) {
		disk_watch_free(w);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/block", sysfs);
	w->has_sys_block = access(path, X_OK) == 0;
	return w;
}

void disk_watch_free(struct disk_watch *w)
{
	if (!w)
		return;
	free(w->procfs);
	free(w->sysfs);
	buf_free(&w->text);
	free(w);
}

/* Without /sys partitions are included: they follow their disk and are no busier. */
static bool is_whole(const struct disk_watch *w, const char *name)
{
	char path[PATH_MAX];

	if (name[0] == '.')
		return false;
	if (!w->has_sys_block)
		return true;
	snprintf(path, sizeof(path), "%s/block/%s", w->sysfs, name);
	for (char *c = path + strlen(path) - strlen(name); *c; c++)
		if (*c == '/')
			*c = '!';
	return access(path, F_OK) == 0;
}

static struct disk *find_disk(struct disk_watch *w, const struct words *word)
{
	char name[DISK_BUSY_NAME] = "";
	size_t len = (size_t)(word->end - word->p);

	if (len == 0 || len >= sizeof(name))
		return NULL;
	memcpy(name, word->p, len);
	for (uint32_t i = 0; i < w->n; i++)
		if (strcmp(w->disk[i].name, name) == 0)
			return &w->disk[i];
	if (w->n == DISK_BUSY_MAX || !is_whole(w, name))
		return NULL;
	w->disk[w->n] = (struct disk){ 0 };
	memcpy(w->disk[w->n].name, name, sizeof(name));
	return &w->disk[w->n++];
}

int disk_watch_sample(struct disk_watch *w, uint64_t now_ns)
{
	struct words file, line, name;
	uint32_t old = w->n;
	int r = proc_read(&w->text, w->procfs, "diskstats", &file);

	if (r < 0)
		return r;
	while (proc_line(&file, &line)) {
		struct disk *d;

		proc_number(&line); /* major, minor */
		proc_number(&line);
		d = proc_word(&line, &name) ? find_disk(w, &name) : NULL;
		if (!d)
			continue;
		for (int i = 0; i < COLUMNS; i++) {
			double v = proc_number(&line);

			d->last[i] = isnan(v) ? 0 : v;
		}
		if (!w->scans)
			memcpy(d->first, d->last, sizeof(d->first));
		else if (d >= &w->disk[old])
			memset(d->first, 0, sizeof(d->first)); /* appeared later */
	}
	if (!w->scans++)
		w->first_ns = now_ns;
	w->last_ns = now_ns;
	return 0;
}

static double growth(const struct disk *d, int column)
{
	return d->last[column] > d->first[column] ? d->last[column] - d->first[column] : 0;
}

static struct disk_busy disk_load(const struct disk *d, double ms)
{
	double n = growth(d, READS) + growth(d, WRITES) + growth(d, DISCARDS) + growth(d, FLUSHES);
	double took = growth(d, READ_MS) + growth(d, WRITE_MS) + growth(d, DISCARD_MS) +
		      growth(d, FLUSH_MS);
	struct disk_busy b = {
		.util = fmin(growth(d, BUSY_MS) / ms, 1),
		.queue = fmax(growth(d, QUEUE_MS) / ms, 0),
		.await_ms = n > 0 ? took / n : NAN,
		.in_flight = (uint32_t)d->last[IN_FLIGHT],
	};

	memcpy(b.name, d->name, sizeof(b.name));
	/* For a disk that completes nothing the kernel does not update the queue time. */
	b.queue = fmax(b.queue, b.util * b.in_flight);
	return b;
}

size_t disk_watch_worst(const struct disk_watch *w, struct disk_busy *out, size_t room)
{
	double ms = (double)(w->last_ns - w->first_ns) / 1e6;
	size_t n = 0;

	for (uint32_t i = 0; i < w->n && ms > 0; i++) {
		struct disk_busy b = disk_load(&w->disk[i], ms);
		size_t at = n < room ? n : room;

		if (b.util <= 0)
			continue;
		while (at > 0 && out[at - 1].queue < b.queue) {
			if (at < room)
				out[at] = out[at - 1];
			at--;
		}
		if (at < room)
			out[at] = b;
		n += n < room;
	}
	return n;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/link.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "lib/base/log.h"
#include "lib/daemon/queue.h"
#include "collector/core/counters.h"

/* Each piece of work makes one note at most, so notes have room unless the loop stands still. */
enum { MAX_WORK = 2048, MAX_BYTES = 16 << 20, MAX_NOTES = 2 * MAX_WORK };

struct link {
	struct queue *down, *up;
	int note_fd, close_fd;
};

struct link *link_new(void)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		die("out of memory");
	l->down = queue_new(MAX_WORK);
	l->up = queue_new(MAX_NOTES);
	l->note_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->close_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->note_fd < 0 || l->close_fd < 0)
		die("eventfd: %s", strerror(errno));
	return l;
}

struct work *work_new(enum work_kind kind, uint64_t node, uint64_t epoch)
{
	struct work *w = calloc(1, sizeof(*w));

	if (!w)
		die("out of memory");
	w->kind = kind;
	w->node = node;
	w->epoch = epoch;
	return w;
}

void work_free(struct work *w)
{
	if (!w)
		return;
	batch_free(w->batch);
	free(w);
}

void link_free(struct link *l)
{
	void *p;

	if (!l)
		return;
	queue_close(l->down);
	queue_close(l->up);
	while (queue_pop(l->down, 0, &p) == 0)
		work_free(p);
	while (queue_pop(l->up, 0, &p) == 0)
		free(p);
	queue_free(l->down);
	queue_free(l->up);
	close(l->note_fd);
	close(l->close_fd);
	free(l);
}

/* The last few places are for HELLO and the like. */
bool link_room(const struct link *l)
{
	return queue_depth(l->down) < MAX_WORK - 64 && counter_get(C_QUEUE_BYTES) < MAX_BYTES;
}

int link_send(struct link *l, struct work *w)
{
	size_t bytes = w->batch ? batch_bytes(w->batch) : 0;
	uint64_t batches = w->batch != NULL;
	int r;

	counter_add(C_QUEUE_BYTES, bytes);
	counter_add(C_QUEUE_BATCHES, batches);
	r = queue_push(l->down, w);
	if (r < 0) {
		counter_sub(C_QUEUE_BYTES, bytes);
		counter_sub(C_QUEUE_BATCHES, batches);
	}
	return r;
}

int link_take(struct link *l, uint64_t timeout_ms, struct work **out)
{
	void *p;
	int r = queue_pop(l->down, timeout_ms, &p);

	if (r == 0)
		*out = p;
	return r;
}

void link_done(const struct work *w)
{
	if (!w->batch)
		return;
	counter_sub(C_QUEUE_BYTES, batch_bytes(w->batch));
	counter_sub(C_QUEUE_BATCHES, 1);
}

static void ring(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		die("eventfd: %s", strerror(errno));
}

void link_note(struct link *l, const struct note *n)
{
	struct note *copy = malloc(sizeof(*copy));

	if (!copy)
		die("out of memory");
	*copy = *n;
	if (queue_push(l->up, copy) < 0) {
		counter_add(C_NOTES_LOST, 1);
		free(copy);
	}
	ring(l->note_fd);
}

int link_note_fd(const struct link *l)
{
	return l->note_fd;
}

/* The bell is stopped before the queue is emptied: a note that comes meanwhile rings it again. */
void link_hear(struct link *l)
{
	uint64_t rung;

	if (read(l->note_fd, &rung, sizeof(rung)) < 0 && errno != EAGAIN)
		die("eventfd: %s", strerror(errno));
}

bool link_take_note(struct link *l, struct note *out)
{
	void *p;

	if (queue_pop(l->up, 0, &p) < 0)
		return false;
	*out = *(struct note *)p;
	free(p);
	return true;
}

void link_close(struct link *l)
{
	queue_close(l->down);
	ring(l->close_fd);
}

bool link_closed(const struct link *l)
{
	struct pollfd p = { .fd = l->close_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

void link_wait(struct link *l, int ms)
{
	struct pollfd p = { .fd = l->close_fd, .events = POLLIN };

	poll(&p, 1, ms);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/writer_queue.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "lib/base/log.h"
#include "lib/daemon/queue.h"
#include "collector/core/counters.h"

/* Each piece of work causes at most one note, so notes only overflow if the loop hangs. */
enum { MAX_WORK = 2048, MAX_BYTES = 16 << 20, MAX_NOTES = 2 * MAX_WORK };

struct writer_queue {
	struct queue *down, *up;
	int note_fd, close_fd;
};

struct writer_queue *writer_queue_new(void)
{
	struct writer_queue *l = calloc(1, sizeof(*l));

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

void writer_queue_free(struct writer_queue *l)
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

/* The last 64 places are reserved for work other than batches, such as HELLO. */
bool writer_queue_room(const struct writer_queue *l)
{
	return queue_depth(l->down) < MAX_WORK - 64 && counter_get(C_QUEUE_BYTES) < MAX_BYTES;
}

int writer_queue_send(struct writer_queue *l, struct work *w)
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

int writer_queue_take(struct writer_queue *l, uint64_t timeout_ms, struct work **out)
{
	void *p;
	int r = queue_pop(l->down, timeout_ms, &p);

	if (r == 0)
		*out = p;
	return r;
}

void writer_queue_done(const struct work *w)
{
	if (!w->batch)
		return;
	counter_sub(C_QUEUE_BYTES, batch_bytes(w->batch));
	counter_sub(C_QUEUE_BATCHES, 1);
}

static void signal_eventfd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		die("eventfd: %s", strerror(errno));
}

void writer_queue_note(struct writer_queue *l, const struct note *n)
{
	struct note *copy = malloc(sizeof(*copy));

	if (!copy)
		die("out of memory");
	*copy = *n;
	if (queue_push(l->up, copy) < 0) {
		counter_add(C_NOTES_LOST, 1);
		free(copy);
	}
	signal_eventfd(l->note_fd);
}

int writer_queue_note_fd(const struct writer_queue *l)
{
	return l->note_fd;
}

/* Clears the eventfd before the queue is emptied: a note that comes meanwhile sets it again. */
void writer_queue_clear_signal(struct writer_queue *l)
{
	uint64_t unused;

	if (read(l->note_fd, &unused, sizeof(unused)) < 0 && errno != EAGAIN)
		die("eventfd: %s", strerror(errno));
}

bool writer_queue_take_note(struct writer_queue *l, struct note *out)
{
	void *p;

	if (queue_pop(l->up, 0, &p) < 0)
		return false;
	*out = *(struct note *)p;
	free(p);
	return true;
}

void writer_queue_close(struct writer_queue *l)
{
	queue_close(l->down);
	signal_eventfd(l->close_fd);
}

bool writer_queue_closed(const struct writer_queue *l)
{
	struct pollfd p = { .fd = l->close_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

void writer_queue_wait(struct writer_queue *l, int ms)
{
	struct pollfd p = { .fd = l->close_fd, .events = POLLIN };

	poll(&p, 1, ms);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/daemon/queue.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "lib/base/log.h"

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	size_t cap, depth, head; /* head: the oldest */
	uint64_t refused;
	bool closed;
	void *slot[];
};

struct queue *queue_new(size_t cap)
{
	struct queue *q = calloc(1, sizeof(*q) + cap * sizeof(q->slot[0]));
	pthread_condattr_t attr;

	assert(cap);
	if (!q)
		die("out of memory");
	q->cap = cap;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr,
				  CLOCK_MONOTONIC); /* setting the wall clock must not wake it */
	pthread_cond_init(&q->filled, &attr);
	pthread_condattr_destroy(&attr);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

int queue_push(struct queue *q, void *p)
{
	int r = 0;

	pthread_mutex_lock(&q->lock);
	if (q->closed) {
		r = -EPIPE;
	} else if (q->depth == q->cap) {
		q->refused++;
		r = -EAGAIN;
	} else {
		q->slot[(q->head + q->depth++) % q->cap] = p;
		pthread_cond_signal(&q->filled);
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

static struct timespec after_ms(uint64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t)(ms / 1000);
	ts.tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

int queue_pop(struct queue *q, uint64_t timeout_ms, void **out)
{
	struct timespec until;
	int r = timeout_ms ? 0
			   : ETIMEDOUT; /* without a timeout no clock is read and nothing waits */

	if (timeout_ms)
		until = after_ms(timeout_ms);

	pthread_mutex_lock(&q->lock);
	while (!q->depth && !q->closed && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&q->filled, &q->lock, &until);
	if (q->depth) {
		*out = q->slot[q->head];
		q->head = (q->head + 1) % q->cap;
		q->depth--;
		r = 0;
	} else {
		r = q->closed ? -EPIPE : -ETIMEDOUT;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

size_t queue_depth(struct queue *q)
{
	size_t depth;

	pthread_mutex_lock(&q->lock);
	depth = q->depth;
	pthread_mutex_unlock(&q->lock);
	return depth;
}

uint64_t queue_refused(struct queue *q)
{
	uint64_t refused;

	pthread_mutex_lock(&q->lock);
	refused = q->refused;
	pthread_mutex_unlock(&q->lock);
	return refused;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * queue.h - a bounded queue of pointers from one thread to another.
 *
 * push never waits: -EAGAIN when full (counted), -EPIPE once closed; the caller then still owns the
 * pointer. pop waits: -ETIMEDOUT, or -EPIPE once closed and empty, so nothing pushed is lost.
 */
#pragma once

#include "lib/base/base.h"

struct queue;

struct queue *queue_new(size_t cap);
void queue_free(struct queue *q); /* NULL is fine; the caller frees what is still queued */

int queue_push(struct queue *q, void *p) MUST_CHECK;
int queue_pop(struct queue *q, uint64_t timeout_ms, void **out) MUST_CHECK;
void queue_close(struct queue *q);

size_t queue_depth(struct queue *q);
uint64_t queue_refused(struct queue *q); /* pushes refused because it was full */

DEFINE_AUTO(struct queue *, queue_free)

// SPDX-License-Identifier: Apache-2.0
/*
 * writer.h - the thread that stores: it takes work from the link and answers with notes.
 *
 * While the database is away it keeps what it has and takes no more. writer_stop lets it store what
 * is queued, if the database is there; -ETIMEDOUT: it still hangs in a call, and nothing that it
 * uses may be freed.
 */
#pragma once

#include "collector/pipeline/writer_queue.h"
#include "collector/store/session.h"

struct writer;

struct writer_config {
	struct writer_queue *link;
	struct session_config session;
	struct outbox *outbox; /* NULL: nothing is relayed */
	void (*on_requests)(void *arg); /* in the writer's thread, after a commit of requests */
	void *arg;
};

int writer_start(struct writer **out, const struct writer_config *cfg) MUST_CHECK;
int writer_stop(struct writer *w) MUST_CHECK;

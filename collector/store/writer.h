// SPDX-License-Identifier: Apache-2.0
/*
 * writer.h - the thread that stores: takes work from the writer queue and answers with notes.
 *
 * While the database is away the thread keeps its group and takes no more. writer_stop lets it
 * store what is queued if the database is there. -ETIMEDOUT: the thread still hangs in a call, and
 * nothing that it uses may be freed.
 */
#pragma once

#include "collector/pipeline/writer_queue.h"
#include "collector/store/session.h"

struct writer;

struct writer_config {
	struct writer_queue *link;
	struct session_config session;
	struct outbox *outbox; /* NULL: no relaying */
	/* The reason why nothing may be stored now, or NULL; asked before each group. */
	const char *(*refusal)(void *space);
	void *space;
	/* Called in the writer's thread after a commit with requests. */
	void (*on_requests)(void *arg);
	void *arg;
};

int writer_start(struct writer **out, const struct writer_config *cfg) MUST_CHECK;
int writer_stop(struct writer *w) MUST_CHECK;

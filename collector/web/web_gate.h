// SPDX-License-Identifier: Apache-2.0
/*
 * web_gate.h - accepts connections and hands them to the HTTP server when the head of their first
 * request is complete.
 *
 * The head has 10 s in all and 16 KiB. It is only peeked at, so the server reads it again. Of the
 * connections without a whole head the oldest goes when there are too many: a client that sends
 * its request at once never is. A refusal is answered with a status and a sentence. The gate has a
 * thread of its own.
 */
#pragma once

#include "collector/web/web_seats.h"

struct web_gate;

struct web_gate_config {
	int listen_fd; /* owned by the caller, non-blocking */
	int stop_fd; /* readable: stop */
	struct web_seats *seats;
	/* Takes fd, or returns -errno after fd was closed. family: AF_INET, AF_INET6, AF_UNIX */
	int (*on_connection)(void *arg, int fd, const void *address, unsigned len);
	void *arg;
};

int web_gate_start(struct web_gate **out, const struct web_gate_config *cfg) MUST_CHECK;
void web_gate_stop(struct web_gate *g); /* after stop_fd is readable; NULL is fine */

enum web_head { WEB_HEAD_PART, WEB_HEAD_WHOLE, WEB_HEAD_PAGE };

/* WEB_HEAD_PAGE: whole, and a GET or HEAD of a page of the console, a file of it, /healthz or
 * /metrics */
enum web_head web_head_look(const char *text, size_t len);

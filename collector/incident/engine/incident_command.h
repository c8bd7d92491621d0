// SPDX-License-Identifier: Apache-2.0
/*
 * incident_command.h - an operator's command on an incident, passed to the correlator thread.
 *
 * The sender gets it back through done, in that thread, with status and answer set: the response
 * body if status is 200, else an error message, empty if the database is away. Plain data.
 */
#pragma once

#include "lib/base/buf.h"

enum { INCIDENT_COMMAND_BODY = 16 * 1024, INCIDENT_COMMANDS = 16 };

struct incident_command {
	struct incident_command *next; /* for the queue */
	const char *verb; /* acknowledge, comment, close, merge, split */
	char id[40];
	struct buf body; /* JSON as received, NUL-terminated */
	unsigned status;
	struct buf answer;
	void (*done)(struct incident_command *c);
};

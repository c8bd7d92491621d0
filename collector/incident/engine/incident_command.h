// SPDX-License-Identifier: Apache-2.0
/*
 * incident_command.h - what a person decides of an incident, on its way to the thread that writes.
 *
 * Whoever gives one away gets it back by done, in that thread, with status and answer set: the body
 * if status is 200, else a sentence, which is empty where the database is away. Plain data.
 */
#pragma once

#include "lib/base/buf.h"

enum { INCIDENT_COMMAND_BODY = 16 * 1024, INCIDENT_COMMANDS = 16 };

struct incident_command {
	struct incident_command *next; /* the queue's */
	const char *verb; /* acknowledge, comment, close, merge, split */
	char id[40];
	struct buf body; /* JSON, as it came, with its end */
	unsigned status;
	struct buf answer;
	void (*done)(struct incident_command *c);
};

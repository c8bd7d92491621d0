// SPDX-License-Identifier: Apache-2.0
/* signals.h - the end of a process as something to read: SIGINT, SIGTERM and SIGHUP. */
#pragma once

/* Blocked in this thread and those it starts from now on, readable from the descriptor; or dies.
 * What is written to nobody is an error and no signal.
 */
int signals_open(void);

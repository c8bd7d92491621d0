// SPDX-License-Identifier: Apache-2.0
/* signals.h - SIGINT, SIGTERM and SIGHUP as a readable descriptor. */
#pragma once

/* Blocks the three in this thread and in threads it starts later, and ignores SIGPIPE (a write then
 * returns EPIPE). Dies on failure.
 */
int signals_open(void);

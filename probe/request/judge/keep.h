// SPDX-License-Identifier: Apache-2.0
/*
 * keep.h - what detect has learnt outlives the probe: read at the start, written every minute and
 * at the end, by a thread, so that a slow disk does not keep requests waiting. A file that cannot
 * be used is told once and counted; the probe goes on without.
 */
#pragma once

#include "probe/request/judge/detect.h"

struct keep;

struct keep *keep_open(const char *path, struct detect *d); /* NULL for "": nothing is kept */
void keep_tick(struct keep *k, uint64_t now_ns); /* NULL is fine, here and below */
void keep_close(struct keep *k); /* writes once more and waits for it */

uint64_t keep_refused(const struct keep *k); /* files that were there and could not be used */
uint64_t keep_unsaved(const struct keep *k); /* times that writing failed */

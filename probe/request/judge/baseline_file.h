// SPDX-License-Identifier: Apache-2.0
/*
 * baseline_file.h - what detect has learnt outlives the probe: read at the start, written every minute and
 * at the end, by a thread, so that a slow disk does not keep requests waiting. A file that cannot
 * be used is told once and counted; the probe goes on without.
 */
#pragma once

#include "probe/request/judge/detect.h"

struct baseline_file;

struct baseline_file *baseline_file_open(const char *path, struct detect *d); /* NULL for "": nothing is kept */
void baseline_file_tick(struct baseline_file *k, uint64_t now_ns); /* NULL is fine, here and below */
void baseline_file_close(struct baseline_file *k); /* writes once more and waits for it */

uint64_t baseline_file_refused(const struct baseline_file *k); /* files that were there and could not be used */
uint64_t baseline_file_unsaved(const struct baseline_file *k); /* times that writing failed */

// SPDX-License-Identifier: Apache-2.0
/*
 * baseline_file.h - persists the baselines of detect: read at start, written every minute and at
 * the end by a thread, so that a slow disk does not block requests. An unusable file is reported
 * once and counted; the probe continues without it.
 */

#include "probe/request/judge/detect.h"

struct baseline_file;

struct baseline_file *baseline_file_open(const char *path,
					 struct detect *d); /* NULL for path "": not persisted */
void baseline_file_tick(struct baseline_file *k,
			uint64_t now_ns); /* NULL is fine, here and below */
void baseline_file_close(struct baseline_file *k); /* writes a last time and waits */

uint64_t
baseline_file_refused(const struct baseline_file *k); /* existing files that could not be used */
uint64_t baseline_file_unsaved(const struct baseline_file *k); /* failed writes */

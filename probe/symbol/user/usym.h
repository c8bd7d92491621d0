// SPDX-License-Identifier: Apache-2.0
/*
 * usym.h - names for the frames of a user stack: "do_work+0x1a (app)"; of code that a runtime made,
 * as its map calls it; else "BUILD-ID+0x1f0a (app)", from which it can still be found out.
 *
 * No table stays in memory: a file's symbols are read past the addresses that are asked for, a
 * piece at a time, and the functions found are kept for the next stack.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/request.h"
#include "lib/base/base.h"

enum { USYM_TEXT = 256, USYM_FRAMES = 48 };

struct usym;

struct usym *usym_new(const char *procfs);
void usym_free(struct usym *u);

/*
 * Where the files of these frames lie, while their process is there: it may be gone when the names
 * are asked for. Cheap when they are known.
 */
void usym_notice(struct usym *u, uint32_t pid, const struct req_frame *frame, uint32_t n);

/* Begins with this stack; reads nothing yet. */
void usym_begin(struct usym *u, uint32_t pid, const struct req_frame *frame, uint32_t n);

/*
 * Likewise with places of any stacks, of which those by build id may be another process's: what
 * lies there itself, and not what was called from there.
 */
void usym_begin_places(struct usym *u, uint32_t pid, const struct req_frame *place, uint32_t n);

/* Works until about *bytes were read, and takes off what was. 1: done; 0: go on. */
int usym_step(struct usym *u, size_t *bytes);

/* Once done, or as far as it has come. Fewer frames than there were: what no code lies at is no
 * frame. */
uint32_t usym_frames(const struct usym *u);
const char *usym_frame(const struct usym *u, uint32_t i, char text[static USYM_TEXT]);
/*
 * Of a place: the function, or of one without a name the file, and from where up to before where
 * that is so, as where of a frame counts. -ENXIO: no code lies there; -ENOENT: its file is not
 * known.
 */
int usym_function(const struct usym *u, uint32_t i, char text[static USYM_TEXT], uint64_t *from,
		  uint64_t *to) MUST_CHECK;
bool usym_is_whole(const struct usym *u); /* the outermost frame is where a thread begins */

DEFINE_AUTO(struct usym *, usym_free)

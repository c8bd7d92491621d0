// SPDX-License-Identifier: Apache-2.0
/* usym_frame.h - one frame of a user stack, as far as it is known; only usym*.c and fold.c use it.
 */
#pragma once

#include "probe/symbol/user/usym.h"
#include "probe/symbol/user/usym_files.h"

enum {
	USYM_BY_ID = 1, /* status of a frame */
	USYM_FILE = 64,
};

struct usym_frame {
	struct req_frame at;
	bool code; /* there is code at it */
	bool runtime; /* in memory of no file */
	bool done; /* no name is to be looked for any more */
	uint32_t serial; /* of its file; 0: not known */
	uint64_t offset, plus; /* in the file; from the beginning of its function */
	uint64_t from, to; /* where the function lies, as at.where counts; to: behind it */
	uint8_t build_id[ELF_FILE_ID];
	char name[SYMBOL_NAME], file[USYM_FILE];
};

/* It is an address, and this is mapped there; c: the file of that, NULL if it cannot be read. */
void usym_frame_lies_in(struct usym_frame *f, const struct mapping *m, const struct code_file *c);

void usym_frame_is_of(struct usym_frame *f, const struct code_file *c, const char *path);
void usym_frame_take(struct usym_frame *f, const struct code_function *fn);
void usym_frame_text(const struct usym_frame *f, char text[static USYM_TEXT]);
/* Without the offset; of one that has no name its file. */
void usym_frame_function(const struct usym_frame *f, char text[static USYM_TEXT]);
/* It is where a thread begins. */
bool usym_name_begins(const char *name); /* by its own name */
bool usym_frame_begins(const struct usym_frame *f, const struct usym_frame *called);

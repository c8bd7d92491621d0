// SPDX-License-Identifier: Apache-2.0
/* usym_frame.h - one frame of a user stack and its lookup; only usym*.c and fold.c use it. */
#pragma once

#include "probe/symbol/user/usym.h"
#include "probe/symbol/user/usym_files.h"

enum {
	USYM_BY_ID = 1, /* status of a frame */
	USYM_FILE = 64,
};

struct usym_frame {
	struct req_frame at;
	bool code; /* the address is code */
	bool runtime; /* in anonymous memory */
	bool done; /* the lookup is complete */
	uint32_t serial; /* of its file; 0: not known */
	uint64_t offset, plus; /* in the file; from the start of its function */
	uint64_t from, to; /* range of the function in the unit of at.where, without to */
	uint8_t build_id[ELF_FILE_ID];
	char name[SYMBOL_NAME], file[USYM_FILE];
};

/* For a frame with an address in mapping m; c: the mapped file, NULL if it cannot be read. */
void usym_frame_lies_in(struct usym_frame *f, const struct mapping *m, const struct code_file *c);

void usym_frame_is_of(struct usym_frame *f, const struct code_file *c, const char *path);
void usym_frame_take(struct usym_frame *f, const struct code_function *fn);
void usym_frame_text(const struct usym_frame *f, char text[static USYM_TEXT]);
/* Without the offset; without a name the file. */
void usym_frame_function(const struct usym_frame *f, char text[static USYM_TEXT]);
/* Whether the frame is the start of a thread. */
bool usym_name_begins(const char *name); /* by its name alone */
bool usym_frame_begins(const struct usym_frame *f, const struct usym_frame *called);

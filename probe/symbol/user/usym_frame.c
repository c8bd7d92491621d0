// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/user/usym_frame.h"

#include <stdio.h>

#include "lib/base/text.h"

static void name_file(struct usym_frame *f, const char *path)
{
	const char *base = strrchr(path, '/'), *end;

	base = base ? base + 1 : path;
	end = strstr(base, " (deleted)");
	text_clean_into(f->file, sizeof(f->file), base, end ? (size_t)(end - base) : strlen(base));
}

void usym_frame_is_of(struct usym_frame *f, const struct code_file *c, const char *path)
{
	if (c) {
		f->serial = c->serial;
		memcpy(f->build_id, c->build_id, sizeof(f->build_id));
	}
	name_file(f, path);
}

void usym_frame_lies_in(struct usym_frame *f, const struct mapping *m, const struct code_file *c)
{
	f->code = true;
	f->offset = f->at.where - m->start + m->offset;
	if (m->path[0] == '/') {
		usym_frame_is_of(f, c, m->path);
	} else if (m->path[0] == '[') {
		text_clean_into(f->name, sizeof(f->name), m->path, strlen(m->path));
		f->plus = f->at.where - m->start;
		f->from = m->start;
		f->to = m->end;
		f->done = true;
	} else {
		f->runtime = true;
	}
}

void usym_frame_take(struct usym_frame *f, const struct code_function *fn)
{
	uint64_t above;

	f->done = true;
	memcpy(f->name, fn->name, sizeof(f->name));
	f->plus = f->offset - fn->start;
	above = fn->end - f->offset;
	f->from = f->plus < f->at.where ? f->at.where - f->plus : 0;
	f->to = above < UINT64_MAX - f->at.where ? f->at.where + above : UINT64_MAX;
}

/* The build id in hexadecimal; "" if the file has none, or it is not known. */
static void id_text(const uint8_t id[static ELF_FILE_ID], char text[static 2 * ELF_FILE_ID + 1])
{
	static const uint8_t none[ELF_FILE_ID];

	text[0] = 0;
	if (memcmp(id, none, ELF_FILE_ID) == 0)
		return;
	for (size_t i = 0; i < ELF_FILE_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

void usym_frame_text(const struct usym_frame *f, char text[static USYM_TEXT])
{
	unsigned long long offset = f->offset, plus = f->plus, where = f->at.where;
	char id[2 * ELF_FILE_ID + 1], file[USYM_FILE + 3] = "";

	id_text(f->at.status == USYM_BY_ID ? f->at.build_id : f->build_id, id);
	if (f->file[0])
		snprintf(file, sizeof(file), " (%s)", f->file);
	if (f->name[0] && f->runtime)
		snprintf(text, USYM_TEXT, "%s", f->name);
	else if (f->name[0])
		snprintf(text, USYM_TEXT, "%s+0x%llx%s", f->name, plus, file);
	else if (id[0])
		snprintf(text, USYM_TEXT, "%s+0x%llx%s", id, offset, file);
	else if (f->file[0])
		snprintf(text, USYM_TEXT, "%s+0x%llx", f->file, offset);
	else
		snprintf(text, USYM_TEXT, "0x%llx", where);
}

void usym_frame_function(const struct usym_frame *f, char text[static USYM_TEXT])
{
	char id[2 * ELF_FILE_ID + 1];

	id_text(f->at.status == USYM_BY_ID ? f->at.build_id : f->build_id, id);
	if (f->name[0] && f->file[0] && !f->runtime)
		snprintf(text, USYM_TEXT, "%s (%s)", f->name, f->file);
	else if (f->name[0])
		snprintf(text, USYM_TEXT, "%s", f->name);
	else if (f->file[0])
		snprintf(text, USYM_TEXT, "%s%s(%s)", id, id[0] ? " " : "", f->file);
	else
		snprintf(text, USYM_TEXT, "%s", id[0] ? id : "(no file)");
}

static bool is_c_library(const struct usym_frame *f)
{
	static const char *const files[] = { "libc.so", "libc-2", "ld-musl", "libpthread" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strncmp(f->file, files[i], strlen(files[i])) == 0)
			return true;
	return false;
}

bool usym_name_begins(const char *name)
{
	static const char *const names[] = { "_start",	"__libc_start_", "clone",
					     "__clone", "start_thread",	 "runtime.goexit" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/*
 * By unique names. Also, a function that the C library calls in another file is taken for main or a
 * thread's function; this includes callbacks from the C library (qsort).
 */
bool usym_frame_begins(const struct usym_frame *f, const struct usym_frame *called)
{
	if (usym_name_begins(f->name))
		return true;
	return is_c_library(f) && called->file[0] && !is_c_library(called);
}

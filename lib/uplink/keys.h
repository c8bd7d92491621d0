// SPDX-License-Identifier: Apache-2.0
/*
 * keys.h - CURVE keys as text, and the files that hold them.
 *
 * A key is 32 bytes, written as 40 characters of Z85 (rfc.zeromq.org/spec/32). A key pair's file
 * holds the secret key, from which the public one follows (Curve25519), and has mode 600; a file of
 * public keys has one per line. Lines that begin with # are comments. A file is replaced as a whole
 * and synced, and gets the owner of its directory. Errors are -errno, or -EINVAL for an invalid
 * file, each with a sentence in err that says what to do.
 */
#pragma once

#include "lib/base/base.h"

enum { KEY_TEXT = 41, KEYS_MAX = 8, KEYS_PATH = 512 };

struct key_pair {
	char public[KEY_TEXT], secret[KEY_TEXT];
};

struct key_list {
	unsigned n;
	char key[KEYS_MAX][KEY_TEXT];
};

bool key_is_text(const char *s); /* 40 characters that decode to 32 bytes */

int keys_make(struct key_pair *out, char *err, size_t errlen) MUST_CHECK;
int keys_load(const char *path, struct key_pair *out, char *err, size_t errlen) MUST_CHECK;
int keys_save(const char *path, const struct key_pair *k, char *err, size_t errlen) MUST_CHECK;
/* Reads DIR/NAME; if there is no such file, makes a new pair and writes it (*made). */
int keys_open(const char *dir, const char *name, struct key_pair *out, bool *made, char *err,
	      size_t errlen) MUST_CHECK;

bool keys_has(const struct key_list *l, const char *key);
void keys_add(struct key_list *l, const char *key); /* once; a full list drops its oldest */
/* Adds the keys of a file; -ENOENT leaves err empty. */
int keys_read(const char *path, struct key_list *l, char *err, size_t errlen) MUST_CHECK;
int keys_write(const char *path, const struct key_list *l, const char *comment, char *err,
	       size_t errlen) MUST_CHECK;

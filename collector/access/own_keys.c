// SPDX-License-Identifier: Apache-2.0
#include "collector/access/own_keys.h"

#include <fcntl.h>
#include <stdio.h>

#include "lib/base/log.h"

#define NAME "collector.key"
#define NEXT "collector.next"
#define PUBLIC "collector.pub"

static void path_of(char path[static KEYS_PATH], const char *dir, const char *name)
{
	snprintf(path, KEYS_PATH, "%s/%s", dir, name);
}

/* next: "" for none */
static int publish(const char *dir, const char *key, const char *next, char *err, size_t errlen)
{
	struct key_list l = { 0 };
	char path[KEYS_PATH];

	keys_add(&l, key);
	if (*next)
		keys_add(&l, next);
	path_of(path, dir, PUBLIC);
	return keys_write(path, &l, "The public key of this collector, and its next one", err,
			  errlen);
}

/* True: the next key changed or was removed. */
static bool read_next(struct own_keys *k)
{
	struct key_list l = { 0 };
	char err[256], next[KEY_TEXT] = "";

	if (keys_read(k->path, &l, err, sizeof(err)) < 0)
		return false;
	for (unsigned i = 0; i < l.n; i++)
		if (strcmp(l.key[i], k->pair.public) != 0)
			memcpy(next, l.key[i], KEY_TEXT);
	if (strcmp(next, k->next) == 0)
		return false;
	memcpy(k->next, next, KEY_TEXT);
	return true;
}

int own_keys_open(struct own_keys *k, const char *dir, char *err, size_t errlen)
{
	struct key_list l = { 0 };
	bool made;
	int r = keys_open(dir, NAME, &k->pair, &made, err, errlen);

	if (r < 0)
		return r;
	/* by descriptor: after dropping privileges the path may not be accessible */
	k->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (k->dir < 0)
		return snprintf(err, errlen, "cannot open %s: %s", dir, strerror(errno)), -EACCES;
	snprintf(k->path, sizeof(k->path), "/proc/self/fd/%d/" PUBLIC, k->dir);
	r = keys_read(k->path, &l, err, errlen);
	if (r < 0 || !keys_has(&l, k->pair.public)) /* lost, or of another key: write it anew */
		r = publish(dir, k->pair.public, "", err, errlen);
	read_next(k);
	return r;
}

void own_keys_look(struct own_keys *k)
{
	if (read_next(k) && *k->next)
		log_info("the next key of this collector, %.8s..., is announced to the probes",
			 k->next);
}

int own_keys_prepare(const char *dir, char out[static KEY_TEXT], char *err, size_t errlen)
{
	struct key_pair pair, next;
	char path[KEYS_PATH];
	bool made;
	int r;

	path_of(path, dir, NAME);
	r = keys_load(path, &pair, err, errlen);
	if (r == 0)
		r = keys_open(dir, NEXT, &next, &made, err, errlen);
	if (r == 0)
		r = publish(dir, pair.public, next.public, err, errlen);
	if (r == 0)
		memcpy(out, next.public, KEY_TEXT);
	return r;
}

int own_keys_rotate(const char *dir, char out[static KEY_TEXT], char *err, size_t errlen)
{
	char path[KEYS_PATH], next[KEYS_PATH];
	struct key_pair pair;
	int r;

	path_of(path, dir, NAME);
	path_of(next, dir, NEXT);
	r = keys_load(next, &pair, err, errlen);
	if (r < 0)
		return r;
	if (rename(next, path) < 0) {
		snprintf(err, errlen, "cannot rename %s to %s: %s", next, path, strerror(errno));
		return -errno;
	}
	memcpy(out, pair.public, KEY_TEXT);
	return publish(dir, pair.public, "", err, errlen);
}

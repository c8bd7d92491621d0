// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/keyring.h"

#include <fcntl.h>
#include <stdio.h>

#include "lib/base/log.h"

static void path_of(char path[static KEYS_PATH], const struct keyring *k, const char *name)
{
	snprintf(path, KEYS_PATH, "%s/%s", k->dir, name);
}

static int take_word(struct keyring *k, const char *word, char *err, size_t errlen)
{
	int r;

	/* A path of 40 characters may look like a key, so test for a file first. */
	if (key_is_text(word) && access(word, F_OK) < 0) {
		keys_add(&k->collectors, word);
		return 0;
	}
	r = keys_read(word, &k->collectors, err, errlen);
	if (r == -ENOENT)
		snprintf(err, errlen,
			 "collector_key: %s is neither a public key of 40 characters nor a file of "
			 "such; seismo-collector key prints it",
			 word);
	return r;
}

int keyring_collectors(struct keyring *k, const char *dir, const char *collector_key, char *err,
		       size_t errlen)
{
	char copy[1024], *rest = copy, *word, path[KEYS_PATH];
	int r = 0;

	memset(k, 0, sizeof(*k));
	snprintf(k->dir, sizeof(k->dir), "%s", dir);
	snprintf(copy, sizeof(copy), "%s", collector_key);
	while (r == 0 && (word = strsep(&rest, ","))) { /* a path may contain spaces */
		size_t end;

		word += strspn(word, " \t");
		for (end = strlen(word); end && (word[end - 1] == ' ' || word[end - 1] == '\t');
		     end--)
			word[end - 1] = 0;
		if (*word)
			r = take_word(k, word, err, errlen);
	}
	if (r < 0)
		return r;
	path_of(path, k, "collectors.pub");
	r = keys_read(path, &k->collectors, err, errlen);
	if (r < 0 && r != -ENOENT)
		return r;
	if (k->collectors.n)
		return 0;
	snprintf(err, errlen,
		 "no public key of a collector is known, so no collector can be trusted: set "
		 "collector_key to the output of seismo-collector key there");
	return -ENOKEY;
}

/* A missing file means no token: a fleet tool may remove it after enrollment. */
static void take_token(struct keyring *k, const char *path)
{
	AUTO_CLOSE int fd = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, k->token, sizeof(k->token) - 1);

	k->token[n > 0 ? n : 0] = 0;
	k->token[strcspn(k->token, " \t\r\n")] = 0;
	if (*path && fd < 0 && errno != ENOENT)
		log_warn(-errno,
			 "cannot read token file %s: this node needs manual approval on the "
			 "collector",
			 path);
}

int keyring_open(struct keyring *k, const struct keyring_config *cfg, char *err, size_t errlen)
{
	char path[KEYS_PATH];
	bool made;
	int r = keyring_collectors(k, cfg->dir, cfg->collector_key, err, errlen);

	if (r == 0)
		r = keys_open(k->dir, "node.key", &k->own, &made, err, errlen);
	if (r < 0)
		return r;
	path_of(path, k, "node.next");
	r = keys_load(path, &k->next, err, errlen);
	if (r < 0 && r != -ENOENT)
		return r;
	take_token(k, cfg->token);
	return 0;
}

bool keyring_trust(struct keyring *k, const char *collector_key)
{
	struct key_list learnt = { 0 };
	char path[KEYS_PATH], err[256];

	if (!key_is_text(collector_key) || keys_has(&k->collectors, collector_key))
		return false;
	keys_add(&k->collectors, collector_key);
	path_of(path, k, "collectors.pub");
	if (keys_read(path, &learnt, err, sizeof(err)) < 0)
		learnt.n = 0;
	keys_add(&learnt, collector_key);
	if (keys_write(path, &learnt, "Next keys announced by collectors", err, sizeof(err)) < 0)
		log_warn(0, "%s: the collector's next key will be lost when this process ends",
			 err);
	return true;
}

int keyring_prepare(struct keyring *k)
{
	char err[256];
	bool made;
	int r;

	if (*k->next.public)
		return 0;
	r = keys_open(k->dir, "node.next", &k->next, &made, err, sizeof(err));
	if (r < 0) {
		memset(&k->next, 0, sizeof(k->next));
		log_warn(0, "%s: this node keeps its present key", err);
	}
	return r;
}

int keyring_change(struct keyring *k)
{
	char next[KEYS_PATH], own[KEYS_PATH];

	path_of(next, k, "node.next");
	path_of(own, k, "node.key");
	if (rename(next, own) < 0)
		return log_warn(-errno, "cannot rename %s to %s: this node keeps its present key",
				next, own);
	k->own = k->next;
	memset(&k->next, 0, sizeof(k->next));
	return 0;
}

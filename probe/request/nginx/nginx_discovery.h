// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_discovery.h - which processes run an nginx: each is looked at when its first request is seen,
 * and again after a minute; its file only if no other process has shown it before. An upgrade is
 * another file, whatever its name. Knows files by number; what they are for is nginx.h.
 */
#pragma once

#include <sys/stat.h>

#include "probe/request/nginx/nginx_elf.h"

struct nginx_discovery;

struct nginx_file {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec written;
};

bool nginx_file_equal(const struct nginx_file *a, const struct nginx_file *b);

struct nginx_hooks {
	/* Its number if it is known, else -1. */
	int (*known)(void *arg, const struct nginx_file *file);
	/* It is an nginx, seen for the first time, to be opened at path. Its number, or -1. */
	int (*found)(void *arg, const struct nginx_file *file, const struct nginx_elf *elf,
		     const char *path);
	void *arg;
};

struct nginx_discovery *nginx_discovery_new(const char *procfs, const struct nginx_hooks *hooks);
void nginx_discovery_free(struct nginx_discovery *w); /* NULL is fine */

/* The number of the file that this process runs; -1: it is no nginx. */
int nginx_discovery_process(struct nginx_discovery *w, uint32_t tgid, uint64_t now_ns);
void nginx_discovery_forget(struct nginx_discovery *w, int number); /* it means nothing any more */
/* All that run now: before they have had a request. */
void nginx_discovery_all(struct nginx_discovery *w, uint64_t now_ns);

// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_discovery.h - finds processes that run nginx. A process is checked at its first request,
 * and every minute after that; its file is only read if it was not seen in another process. An
 * upgraded binary is a different file even under the same name. Files are identified by the numbers
 * that the hooks return.
 *
 * Any user can run a program, so one file is read at a time, and a bounded number of bytes in each
 * turn of the loop: a process counts as not nginx until its file has been read.
 */
#pragma once

#include "probe/foreign/foreign.h"
#include "probe/request/nginx/nginx_elf.h"

struct nginx_discovery;

struct nginx_hooks {
	/* The number of a known file, or -1. */
	int (*known)(void *arg, const struct foreign_id *file);
	/* A new nginx, readable at path during the call. Returns its number, or -1. */
	int (*found)(void *arg, const struct foreign_id *file, const struct nginx_elf *elf,
		     const char *path);
	void *arg;
};

struct nginx_discovery *nginx_discovery_new(const char *procfs, const struct nginx_hooks *hooks);
void nginx_discovery_free(struct nginx_discovery *w); /* NULL is fine */

/* The number of the file that this process runs; -1: not nginx. */
int nginx_discovery_process(struct nginx_discovery *w, uint32_t tgid, uint64_t now_ns);
void nginx_discovery_forget(struct nginx_discovery *w,
			    int number); /* the number is no longer valid */
/* A new turn of the loop: goes on with the file being read. */
void nginx_discovery_step(struct nginx_discovery *w);
/* Checks all running processes, before their first request; reads at most 64 MiB. */
void nginx_discovery_all(struct nginx_discovery *w, uint64_t now_ns);

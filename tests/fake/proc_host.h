// SPDX-License-Identifier: Apache-2.0
/*
 * proc_host.h - source_proc on a host made of files: a copy of tests/data/proc that the test
 * changes.
 */
#pragma once

#include "probe/core/layout.h"
#include "probe/core/source.h"

#define DATA "tests/data"

enum { HOST_FILES = 15 };

extern const char *const host_files[HOST_FILES]; /* below /proc */

struct host {
	char dir[64];
	void *self;
	struct sink sink;
	struct arena *arena;
	struct wire_body tick;
};

void host_open(struct host *h, const char *sysfs);
void host_close(struct host *h);
int host_tick(struct host *h); /* reads once; the result is in h->tick until the next call */

void host_put(const struct host *h, const char *name, const char *text);
void host_put_bytes(const struct host *h, const char *name, const void *data, size_t len);
void host_take(const struct host *h, const char *name);
void host_restore(const struct host *h);
size_t host_original(const char *name, char *text, size_t room);

const double *host_sample(const struct host *h, const struct wire_dict *d, const char *entity);
uint32_t host_entities(const struct host *h, const struct wire_dict *d);

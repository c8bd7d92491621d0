// SPDX-License-Identifier: Apache-2.0
#include "tests/fake/proc_host.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tests/lib/test.h"

const char *const host_files[HOST_FILES] = {
	"stat",	       "loadavg",	 "meminfo",	"vmstat",	    "diskstats",
	"net/dev",     "net/snmp",	 "net/netstat", "pressure/cpu",	    "pressure/memory",
	"pressure/io", "sys/fs/file-nr", "softirqs",	"net/softnet_stat", "sys/fs/dentry-state"
};

void host_put_bytes(const struct host *h, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	f = fopen(path, "we");
	CHECK(f && fwrite(data, 1, len, f) == len);
	if (f)
		fclose(f);
}

void host_put(const struct host *h, const char *name, const char *text)
{
	host_put_bytes(h, name, text, strlen(text));
}

size_t host_original(const char *name, char *text, size_t room)
{
	char path[PATH_MAX];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), DATA "/proc/%s", name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, room - 1, f);
	text[n] = 0;
	fclose(f);
	return n;
}

void host_take(const struct host *h, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	unlink(path);
}

void host_restore(const struct host *h)
{
	char text[8192];

	for (size_t i = 0; i < HOST_FILES; i++)
		host_put_bytes(h, host_files[i], text,
			       host_original(host_files[i], text, sizeof(text)));
}

void host_open(struct host *h, const char *sysfs)
{
	static const char *const dirs[] = { "net", "pressure", "sys", "sys/fs" };
	char path[PATH_MAX], why[WHY_LEN] = "";
	struct probe_env env = { .procfs = h->dir, .sysfs = sysfs, .why = why };

	*h = (struct host){ .dir = "/tmp/seismo-proc.XXXXXX" };
	CHECK(mkdtemp(h->dir) != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, dirs[i]);
		CHECK_EQ(mkdir(path, 0700), 0);
	}
	host_restore(h);
	h->arena = arena_new(8 << 20);
	h->self = calloc(1, source_proc.size);
	CHECK_EQ(source_proc.open(h->self, &env), 0);
}

void host_close(struct host *h)
{
	static const char *const dirs[] = { "net", "pressure", "sys/fs", "sys", "." };
	char path[PATH_MAX];

	source_proc.close(h->self);
	free(h->self);
	arena_free(h->arena);
	buf_free(&h->sink.metric);
	for (size_t i = 0; i < HOST_FILES; i++)
		host_take(h, host_files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, dirs[i]);
		rmdir(i + 1 < ARRAY_SIZE(dirs) ? path : h->dir);
	}
}

int host_tick(struct host *h)
{
	int r;

	arena_reset(h->arena);
	buf_reset(&h->sink.metric);
	r = source_proc.read(h->self, &h->sink);
	CHECK_EQ(wire_body_decode(h->arena, h->sink.metric.data, h->sink.metric.len, &h->tick), 0);
	return r;
}

const double *host_sample(const struct host *h, const struct wire_dict *d, const char *entity)
{
	for (uint32_t i = 0; i < h->tick.nsamples; i++)
		if (h->tick.samples[i].layout == d->layout &&
		    strcmp(h->tick.samples[i].entity, entity) == 0)
			return h->tick.samples[i].v;
	return NULL;
}

uint32_t host_entities(const struct host *h, const struct wire_dict *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->tick.nsamples; i++)
		n += h->tick.samples[i].layout == d->layout;
	return n;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * alone.c - one source of the probe and nothing else, for what it costs others: alone NAME opens
 * it, says "ready" and reads it at its own period until it is killed. alone alone lists
 * the names, and of each which kind it is: always, hot or demand.
 */
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/daemon/loop.h"
#include "probe/source/sources.h"
#include "tests/tools/source_config.h"

static const char *const kinds[] = {
#define SOURCE(name) "always",
#define HOT(name) "hot",
#define ON_DEMAND(name) "demand",
#include "probe/core/sources.def"
#undef SOURCE
};

struct alone {
	const struct source *source;
	void *self;
	struct sink out;
};

static int on_read(void *arg)
{
	struct alone *a = arg;
	int r = a->source->read(a->self, &a->out);

	buf_reset(&a->out.metric);
	buf_reset(&a->out.event);
	return r < 0 ? r : 0;
}

static const struct source *find(const char *name)
{
	for (size_t i = 0; i < sources_count(); i++)
		if (strcmp(sources_at(i)->name, name) == 0)
			return sources_at(i);
	die("there is no source %s", name);
}

int main(int argc, char *argv[])
{
	char why[WHY_LEN] = "";
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &source_config, .why = why
	};
	struct alone a = { 0 };
	struct loop *loop = loop_new();

	log_init("alone", LOG_WARN);
	if (argc < 2) {
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			printf("%s %s\n", sources_at(i)->name, kinds[i]);
		return EXIT_SUCCESS;
	}
	a.source = find(argv[1]);
	a.self = calloc(1, a.source->size);
	if (!a.self)
		die("out of memory");
	if (a.source->open(a.self, &env) < 0)
		die("%s is off: %s", a.source->name, why);
	loop_add_timer(loop, a.source->period_ms, on_read, &a);
	puts("ready");
	fflush(stdout);
	loop_run(loop);
	return EXIT_FAILURE;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Files and flags, of the probe and the collector: accepted values are within their bounds, and
 * an error is one sentence. The first byte selects program and form.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "tests/fuzz/check.h"
/* both programs call it collector_config.h */
#include "collector/core/collector_config.h"
#include "lib/uplink/endpoints.h"
#include "probe/core/probe_config.h"

enum { ARGS = 16, ERR = 512 };

static char name[] = "seismo", path[32];
static int fd = -1;

static bool ends(const char *field, size_t size)
{
	return memchr(field, 0, size) != NULL;
}

static void check_err(int r, const char *err)
{
	must(ends(err, ERR));
	must(r == 0 || (r == -EINVAL && strlen(err) > 10));
}

static void probe(int argc, char *const argv[])
{
	struct endpoints collectors;
	struct probe_config c;
	enum probe_task task;
	char err[ERR] = "";
	int r = probe_config_read(argc, argv, &c, &task, err, sizeof(err));

	check_err(r, err);
	must(ends(c.node, sizeof(c.node)) && ends(c.collector, sizeof(c.collector)) &&
	     ends(c.state, sizeof(c.state)) && ends(c.scope, sizeof(c.scope)));
	must(c.spool_mb > 0 && c.rows_per_s >= 0 && c.ring_mb > 0 && c.slow_ms == c.slow_ms);
	if (r == 0 && task != PROBE_HELP && task != PROBE_PRINT_VERSION)
		must(!strchr(c.node, '/') && endpoints_parse(c.collector, &collectors) == 0);
}

static void collector(int argc, char *const argv[])
{
	struct config c;
	enum config_task task;
	char err[ERR] = "";
	int r = config_read(argc, argv, &c, &task, err, sizeof(err));

	check_err(r, err);
	must(ends(c.bind, sizeof(c.bind)) && ends(c.web, sizeof(c.web)) &&
	     ends(c.database, sizeof(c.database)) && ends(c.region, sizeof(c.region)));
	must(c.bind[0] && c.web[0] && c.database[0] && c.keep.requests >= 1 &&
	     c.keep.requests <= 3650);
	must(c.keep.evidence >= 1 && c.keep.evidence <= 3650);
}

static int of_file(const uint8_t *data, size_t len, char *argv[ARGS])
{
	static char config[] = "--config";

	if (fd < 0) {
		fd = memfd_create("config", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(ftruncate(fd, 0) == 0 && pwrite(fd, data, len, 0) == (ssize_t)len);
	argv[0] = name, argv[1] = config, argv[2] = path, argv[3] = NULL;
	return 3;
}

/* A line each; no file is read but the one above. */
static int of_flags(char *text, char *argv[ARGS])
{
	int argc = 1;

	argv[0] = name;
	for (char *next; text && argc < ARGS - 1; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = 0;
		if (strcmp(text, "--config") != 0)
			argv[argc++] = text;
	}
	argv[argc] = NULL;
	return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *argv[ARGS], *text;
	int argc;

	if (!len)
		return 0;
	text = strndup((const char *)data + 1, len - 1);
	argc = *data & 2 ? of_file(data + 1, len - 1, argv) : of_flags(text, argv);
	if (*data & 1)
		probe(argc, argv);
	else
		collector(argc, argv);
	free(text);
	return 0;
}

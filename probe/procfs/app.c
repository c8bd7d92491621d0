// SPDX-License-Identifier: Apache-2.0
#include "probe/procfs/app.h"

#include <limits.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/foreign/foreign.h"

enum { SLOTS = 256, COMM = 16 };
#define APP_AGE_NS (60ull * 1000000000ull) /* the pid may be reused by then */

struct app {
	uint32_t pid;
	uint64_t looked_ns;
	char comm[COMM];
	char name[APP_NAME];
};

struct apps {
	char procfs[PATH_MAX - 64];
	struct app slot[SLOTS];
};

struct apps *apps_new(const char *procfs)
{
	struct apps *a = calloc(1, sizeof(*a));

	if (!a)
		die("out of memory");
	snprintf(a->procfs, sizeof(a->procfs), "%s", procfs);
	return a;
}

void apps_free(struct apps *a)
{
	free(a);
}

/* The last path component that ends in ".service", without that suffix; false: none. */
static bool unit_of(const char *line, char name[static APP_NAME])
{
	const char *end = strstr(line, ".service"), *next, *s;

	if (!end)
		return false;
	while ((next = strstr(end + 1, ".service")))
		end = next;
	for (s = end; s > line && s[-1] != '/'; s--)
		;
	if (s == end || strncmp(s, "user@", 5) == 0 || (size_t)(end - s) >= APP_NAME)
		return false;
	memcpy(name, s, (size_t)(end - s));
	name[end - s] = 0;
	return true;
}

static void look_up_name(const struct apps *a, struct app *p)
{
	char text[4096], *rest = text, *line;

	snprintf(p->name, sizeof(p->name), "%s", p->comm);
	if (foreign_read_text(a->procfs, p->pid, "cgroup", text, sizeof(text)) < 0)
		return;
	while ((line = strsep(&rest, "\n")))
		if (unit_of(line, p->name))
			break;
}

const char *apps_name(struct apps *a, uint32_t pid, const char *comm)
{
	struct app *p = &a->slot[pid % SLOTS];
	uint64_t now = clock_mono_ns();

	if (p->pid == pid && strncmp(p->comm, comm, COMM - 1) == 0 &&
	    now - p->looked_ns < APP_AGE_NS)
		return p->name;
	p->pid = pid;
	p->looked_ns = now;
	snprintf(p->comm, sizeof(p->comm), "%.15s", comm);
	look_up_name(a, p);
	return p->name;
}

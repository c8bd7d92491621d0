// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_record_text.h"

#include <stdio.h>

#include "probe/cgroup/cgroup_path.h"

enum { TAIL = 200 }; /* bytes kept of a path that the kernel program cut */

void cgroup_record_text(const struct cgroup_record *c, uint64_t id, char text[static ITEM_MAX_TEXT])
{
	char path[CGROUP_RECORD_PATH + CGROUP_RECORD_PARTS];
	size_t at = sizeof(path) - 1,
	       len = c->len < CGROUP_RECORD_PATH ? c->len : CGROUP_RECORD_PATH;

	path[at] = 0;
	for (const char *p = c->path, *end = p + len; p < end && *p; p += strlen(p) + 1) {
		size_t n = strnlen(p, (size_t)(end - p));

		if (n == (size_t)(end - p) || n + 1 > at)
			break; /* no terminating 0: cut */
		at -= n;
		memcpy(path + at, p, n);
		path[--at] = '/';
	}
	if (c->cut)
		snprintf(text, ITEM_MAX_TEXT, "~%016llx%.*s", (unsigned long long)id, TAIL,
			 path + (at + TAIL < sizeof(path) ? sizeof(path) - 1 - TAIL : at));
	else
		cgroup_entity(path[at] ? path + at : "/", text);
}

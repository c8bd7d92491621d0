// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/ksym_range.h"

#include <limits.h>
#include <stdio.h>

/* "ffffffff81000000 T _text\n"; a symbol of a module, followed by "\t[module]", does not match. */
static bool is_name(const char *line, const char *name)
{
	const char *space = strchr(line, ' ');
	size_t len = strlen(name);

	return space && space[1] && space[2] == ' ' && strncmp(space + 3, name, len) == 0 &&
	       space[3 + len] == '\n';
}

static int on_line(const char *line, struct ksym_range *r, size_t n)
{
	const uint64_t at = strtoull(line, NULL, 16);
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		if (r[i].from && at > r[i].from && (!r[i].to || at < r[i].to))
			r[i].to = at;
		if (at && !r[i].from && is_name(line, r[i].name)) {
			r[i].from = at;
			found++;
		}
	}
	return found;
}

int ksym_ranges(const char *procfs, struct ksym_range *r, size_t n)
{
	char path[PATH_MAX], line[512];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/kallsyms", procfs);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	for (size_t i = 0; i < n; i++)
		r[i].from = r[i].to = 0;
	while (fgets(line, sizeof(line), f))
		found += on_line(line, r, n);
	fclose(f);
	return found;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/store/row/name_budget.h"

#include <string.h>

#include "lib/base/cgroup_name.h"

static const struct {
	const char *text;
	uint32_t most;
} budgets[NAMES_END] = {
	[NAMES_CGROUP] = { "cgroups", 16384 },	     [NAMES_SERVICE] = { "services", 4096 },
	[NAMES_PROGRAM] = { "programs", 4096 },	     [NAMES_DEVICE] = { "devices", 1024 },
	[NAMES_KEY] = { "routes and peers", 16384 }, [NAMES_OTHER] = { "other things", 4096 },
};

static bool is_service(const char *path)
{
	static const char end[] = ".service";
	struct cgroup_name labels;
	size_t len;

	cgroup_name_read(path, &labels);
	len = strlen(labels.value[LABEL_UNIT]);
	return !*labels.value[LABEL_CONTAINER] && !*labels.value[LABEL_POD] &&
	       !*labels.value[LABEL_BATCH] && len >= sizeof(end) &&
	       strcmp(labels.value[LABEL_UNIT] + len - strlen(end), end) == 0;
}

enum name_budget name_budget_of(const char *kind, const char *name)
{
	static const struct {
		const char *kind;
		enum name_budget of;
	} kinds[] = {
		{ "app", NAMES_SERVICE },     { "program", NAMES_PROGRAM },
		{ "process", NAMES_PROGRAM }, { "disk", NAMES_DEVICE },
		{ "net", NAMES_DEVICE },      { "rdma", NAMES_DEVICE },
	};

	if (strcmp(kind, "cgroup") == 0)
		return is_service(name) ? NAMES_SERVICE : NAMES_CGROUP;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			return kinds[i].of;
	return NAMES_OTHER;
}

bool name_budget_take(struct name_counts *c, enum name_budget of)
{
	if (c->n[of] >= budgets[of].most)
		return false;
	c->n[of]++;
	return true;
}

uint32_t name_budget_most(enum name_budget of)
{
	return budgets[of].most;
}

const char *name_budget_text(enum name_budget of)
{
	return budgets[of].text;
}

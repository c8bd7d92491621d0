// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

enum {
	IS_COVERAGE,
	IS_DELIVERY,
	IS_NODE,
	IS_DISK,
	IS_NET,
	IS_DISKIO,
	IS_FILES,
	IS_FILELOSS,
	IS_DROP,
	IS_KLOG,
	IS_KLOGLOSS,
	IS_PROCESS,
	IS_COST,
	IS_CGROUP,
	IS_TASKS,
	IS_TASKSLOSS,
	IS_OOM,
	IS_OOMLOSS,
	IS_RECLAIM,
	IS_RECLAIMLOSS,
	IS_OWN,
	IS_CGROUPIO,
	IS_PROGRAMIO,
	LAYOUTS
};

static const struct wire_metric metrics[LAYOUTS][ITEM_MAX_VALUES] = {
#define METRIC(layout, id, name, unit, kind)                                                       \
	[IS_##layout][layout##_##id] = { name, unit, METRIC_##kind },
#include "../schema/metrics.def"
#undef METRIC
};

#define LAYOUT(kind, id)                                                                           \
	{                                                                                          \
		.entity_kind = (kind), .n = id##_END, .metrics = metrics[IS_##id]                  \
	}

/* Two layouts may share an entity kind: a reader of "coverage" finds what was not delivered too. */
struct wire_dict layout_coverage = LAYOUT("coverage", COVERAGE);
struct wire_dict layout_delivery = LAYOUT("coverage", DELIVERY);
struct wire_dict layout_node = LAYOUT("node", NODE);
struct wire_dict layout_disk = LAYOUT("disk", DISK);
struct wire_dict layout_net = LAYOUT("net", NET);
struct wire_dict layout_diskio = LAYOUT("disk", DISKIO);
struct wire_dict layout_files = LAYOUT("files", FILES);
struct wire_dict layout_fileloss = LAYOUT("coverage", FILELOSS);
struct wire_dict layout_drop = LAYOUT("drop", DROP);
struct wire_dict layout_klog = LAYOUT("node", KLOG);
struct wire_dict layout_klogloss = LAYOUT("coverage", KLOGLOSS);
struct wire_dict layout_process = LAYOUT("process", PROCESS);
struct wire_dict layout_cost = LAYOUT("source", COST);
struct wire_dict layout_cgroup = LAYOUT("cgroup", CGROUP);
struct wire_dict layout_cgroupio = LAYOUT("cgroup", CGROUPIO);
struct wire_dict layout_programio = LAYOUT("program", PROGRAMIO);
struct wire_dict layout_tasks = LAYOUT("node", TASKS);
struct wire_dict layout_tasksloss = LAYOUT("coverage", TASKSLOSS);
struct wire_dict layout_oom = LAYOUT("node", OOM);
struct wire_dict layout_oomloss = LAYOUT("coverage", OOMLOSS);
struct wire_dict layout_reclaim = LAYOUT("node", RECLAIM);
struct wire_dict layout_reclaimloss = LAYOUT("coverage", RECLAIMLOSS);
struct wire_dict layout_own = LAYOUT("source", OWN);

bool layout_has(const char *name)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		for (size_t j = 0; j < ITEM_MAX_VALUES && metrics[i][j].name; j++)
			if (strcmp(metrics[i][j].name, name) == 0)
				return true;
	return false;
}

/* Not a call that a program could forget: a sample with id 0 would be refused for ever. */
__attribute__((constructor)) static void make_ids(void)
{
	struct wire_dict *const all[] = { &layout_coverage,  &layout_delivery,	  &layout_node,
					  &layout_disk,	     &layout_net,	  &layout_diskio,
					  &layout_files,     &layout_fileloss,	  &layout_drop,
					  &layout_klog,	     &layout_klogloss,	  &layout_process,
					  &layout_cost,	     &layout_cgroup,	  &layout_tasks,
					  &layout_tasksloss, &layout_oom,	  &layout_oomloss,
					  &layout_reclaim,   &layout_reclaimloss, &layout_own,
					  &layout_cgroupio,  &layout_programio };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i]->layout = wire_layout_id(all[i]);
}

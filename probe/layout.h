// SPDX-License-Identifier: Apache-2.0
/*
 * layout.h - what the probe's samples mean: schema/metrics.def as indices and as announced layouts.
 *
 * A source fills double v[NODE_END], ..., by index and sends it as layout_node.layout. The ids are
 * ready before main runs.
 */
#pragma once

#include "../lib/wire.h"

/* Each enum takes the lines of its own layout; those of the others vanish. */
#define METRIC(layout, id, name, unit, kind) IN_##layout(layout##_##id)
#define IN_COVERAGE(x)
#define IN_DELIVERY(x)
#define IN_NODE(x)
#define IN_DISK(x)
#define IN_NET(x)
#define IN_DISKIO(x)
#define IN_FILES(x)
#define IN_FILELOSS(x)
#define IN_KLOG(x)
#define IN_KLOGLOSS(x)
#define IN_DROP(x)
#define IN_PROCESS(x)
#define IN_COST(x)
#define IN_CGROUP(x)
#define IN_TASKS(x)
#define IN_TASKSLOSS(x)
#define IN_OOM(x)
#define IN_OOMLOSS(x)
#define IN_RECLAIM(x)
#define IN_RECLAIMLOSS(x)
#define IN_OWN(x)
#define IN_CGROUPIO(x)
#define IN_PROGRAMIO(x)

enum coverage_metric {
#undef IN_COVERAGE
#define IN_COVERAGE(x) x,
#include "../schema/metrics.def"
	COVERAGE_END
#undef IN_COVERAGE
#define IN_COVERAGE(x)
};

enum delivery_metric {
#undef IN_DELIVERY
#define IN_DELIVERY(x) x,
#include "../schema/metrics.def"
	DELIVERY_END
#undef IN_DELIVERY
#define IN_DELIVERY(x)
};

enum node_metric {
#undef IN_NODE
#define IN_NODE(x) x,
#include "../schema/metrics.def"
	NODE_END
#undef IN_NODE
#define IN_NODE(x)
};

enum disk_metric {
#undef IN_DISK
#define IN_DISK(x) x,
#include "../schema/metrics.def"
	DISK_END
#undef IN_DISK
#define IN_DISK(x)
};

enum net_metric {
#undef IN_NET
#define IN_NET(x) x,
#include "../schema/metrics.def"
	NET_END
#undef IN_NET
#define IN_NET(x)
};

enum diskio_metric {
#undef IN_DISKIO
#define IN_DISKIO(x) x,
#include "../schema/metrics.def"
	DISKIO_END
#undef IN_DISKIO
#define IN_DISKIO(x)
};

enum files_metric {
#undef IN_FILES
#define IN_FILES(x) x,
#include "../schema/metrics.def"
	FILES_END
#undef IN_FILES
#define IN_FILES(x)
};

enum fileloss_metric {
#undef IN_FILELOSS
#define IN_FILELOSS(x) x,
#include "../schema/metrics.def"
	FILELOSS_END
#undef IN_FILELOSS
#define IN_FILELOSS(x)
};

enum drop_metric {
#undef IN_DROP
#define IN_DROP(x) x,
#include "../schema/metrics.def"
	DROP_END
#undef IN_DROP
#define IN_DROP(x)
};

enum klog_metric {
#undef IN_KLOG
#define IN_KLOG(x) x,
#include "../schema/metrics.def"
	KLOG_END
#undef IN_KLOG
#define IN_KLOG(x)
};

enum klogloss_metric {
#undef IN_KLOGLOSS
#define IN_KLOGLOSS(x) x,
#include "../schema/metrics.def"
	KLOGLOSS_END
#undef IN_KLOGLOSS
#define IN_KLOGLOSS(x)
};

enum process_metric {
#undef IN_PROCESS
#define IN_PROCESS(x) x,
#include "../schema/metrics.def"
	PROCESS_END
#undef IN_PROCESS
#define IN_PROCESS(x)
};

enum cost_metric {
#undef IN_COST
#define IN_COST(x) x,
#include "../schema/metrics.def"
	COST_END
#undef IN_COST
#define IN_COST(x)
};

enum cgroup_metric {
#undef IN_CGROUP
#define IN_CGROUP(x) x,
#include "../schema/metrics.def"
	CGROUP_END
#undef IN_CGROUP
#define IN_CGROUP(x)
};

enum tasks_metric {
#undef IN_TASKS
#define IN_TASKS(x) x,
#include "../schema/metrics.def"
	TASKS_END
#undef IN_TASKS
#define IN_TASKS(x)
};

enum tasksloss_metric {
#undef IN_TASKSLOSS
#define IN_TASKSLOSS(x) x,
#include "../schema/metrics.def"
	TASKSLOSS_END
#undef IN_TASKSLOSS
#define IN_TASKSLOSS(x)
};

enum oom_metric {
#undef IN_OOM
#define IN_OOM(x) x,
#include "../schema/metrics.def"
	OOM_END
#undef IN_OOM
#define IN_OOM(x)
};

enum oomloss_metric {
#undef IN_OOMLOSS
#define IN_OOMLOSS(x) x,
#include "../schema/metrics.def"
	OOMLOSS_END
#undef IN_OOMLOSS
#define IN_OOMLOSS(x)
};

enum reclaim_metric {
#undef IN_RECLAIM
#define IN_RECLAIM(x) x,
#include "../schema/metrics.def"
	RECLAIM_END
#undef IN_RECLAIM
#define IN_RECLAIM(x)
};

enum reclaimloss_metric {
#undef IN_RECLAIMLOSS
#define IN_RECLAIMLOSS(x) x,
#include "../schema/metrics.def"
	RECLAIMLOSS_END
#undef IN_RECLAIMLOSS
#define IN_RECLAIMLOSS(x)
};

enum own_metric_of_all {
#undef IN_OWN
#define IN_OWN(x) x,
#include "../schema/metrics.def"
	OWN_END
#undef IN_OWN
#define IN_OWN(x)
};

enum cgroupio_metric {
#undef IN_CGROUPIO
#define IN_CGROUPIO(x) x,
#include "../schema/metrics.def"
	CGROUPIO_END
#undef IN_CGROUPIO
#define IN_CGROUPIO(x)
};

enum programio_metric {
#undef IN_PROGRAMIO
#define IN_PROGRAMIO(x) x,
#include "../schema/metrics.def"
	PROGRAMIO_END
#undef IN_PROGRAMIO
#define IN_PROGRAMIO(x)
};
#undef METRIC

extern struct wire_dict layout_coverage, layout_delivery, layout_node, layout_disk, layout_net;
extern struct wire_dict layout_diskio, layout_files, layout_fileloss, layout_drop, layout_klog,
	layout_klogloss;
extern struct wire_dict layout_process, layout_cost;
extern struct wire_dict layout_cgroup, layout_cgroupio, layout_programio;
extern struct wire_dict layout_tasks, layout_tasksloss, layout_oom, layout_oomloss;
extern struct wire_dict layout_reclaim, layout_reclaimloss;
extern struct wire_dict layout_own;

bool layout_has(const char *name); /* whether a metric of any of them is called so */

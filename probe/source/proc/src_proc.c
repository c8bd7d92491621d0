// SPDX-License-Identifier: Apache-2.0
#include "probe/source/proc/src_proc.h"

#include <limits.h>
#include <stdio.h>

#include "probe/procfs/proc_delta.h"

static const struct wire_dict *const layouts[] = { &layout_node, &layout_disk, &layout_net };

static void proc_close(void *self)
{
	struct proc *p = self;

	free(p->procfs);
	free(p->sysfs);
	buf_free(&p->text);
}

static int proc_open(void *self, const struct probe_env *env)
{
	struct proc *p = self;
	char path[PATH_MAX];
	struct words file;
	int r;

	p->procfs = strdup(env->procfs);
	p->sysfs = strdup(env->sysfs);
	if (!p->procfs || !p->sysfs)
		return -ENOMEM;
	r = proc_read(&p->text, p->procfs, "stat", &file);
	if (r < 0) {
		snprintf(env->why, WHY_LEN, "cannot read %s/stat (%s); mount procfs there",
			 env->procfs, strerror(-r));
		return r;
	}
	snprintf(path, sizeof(path), "%s/block", p->sysfs);
	p->has_sys_block = access(path, X_OK) == 0;
	proc_clear(p->last, NODE_END);
	return 0;
}

static int proc_source_read(void *self, struct sink *out)
{
	struct proc *p = self;
	double raw[NODE_END], v[NODE_END];
	int r;

	proc_disk_read(p, out);
	proc_net_read(p, out);
	proc_clear(raw, NODE_END);
	r = proc_node_read(p, raw);
	raw[NODE_DISKS_CUT] = p->disks.cut;
	raw[NODE_NETS_CUT] = p->nets.cut;
	proc_delta(&layout_node, raw, p->last, v);
	sink_sample(out, &(struct sample_item){ layout_node.layout, "", NODE_END, v });
	return r;
}

const struct source source_proc = {
	.name = "proc",
	.help = "CPU, memory, load, pressure, disks and network, from /proc",
	.period_ms = 2000,
	.steady = true,
	.size = sizeof(struct proc),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = proc_open,
	.read = proc_source_read,
	.close = proc_close,
};

// SPDX-License-Identifier: Apache-2.0
/* src_rdma.c - ioctl calls on RDMA devices, from bpf/net/rdma.bpf.c; on demand only. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <limits.h>
#include <linux/types.h>
#include <stdio.h>

#include "bpf/net/rdma.h"
#include "lib/base/text.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/layout.h"
#include "probe/kernel/map_sums.h"
#include "bpf/net/rdma.skel.h"
#include "probe/core/source.h"

enum { MINOR_BITS = 20 }; /* the kernel's encoding of a device number */

_Static_assert((int)RDMA_END * sizeof(__u64) == sizeof(struct rdma_entry), "rdma");
_Static_assert(sizeof(struct rdma_key) <= SUMS_KEY, "rdma");

static const struct rdma_key others = { .device = RDMA_OTHERS };

struct rdma_source {
	struct rdma_bpf *bpf;
	struct sums entries;
	char device[RDMA_DEVICES][32];
	struct sink *out; /* during a read */
};

static void rdma_close(void *self)
{
	struct rdma_source *s = self;

	rdma_bpf__destroy(s->bpf);
	sums_free(&s->entries);
}

/* "231:192", from SYSFS/class/infiniband_verbs/NAME/dev; 0: none. */
static uint32_t number_of(const char *dir, const char *name)
{
	unsigned int major = 0, minor = 0;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/dev", dir, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u:%u", &major, &minor) != 2)
		major = minor = 0;
	fclose(f);
	return major << MINOR_BITS | minor;
}

/* Returns the number of devices; those beyond RDMA_DEVICES are left out. */
static int find_devices(struct rdma_source *s, const char *sysfs)
{
	char dir[PATH_MAX / 2];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/class/infiniband_verbs", sysfs);
	d = opendir(dir);
	while (d && n < RDMA_DEVICES && (e = readdir(d))) {
		uint32_t dev = e->d_name[0] == '.' ? 0 : number_of(dir, e->d_name);

		if (!dev)
			continue;
		snprintf(s->device[n], sizeof(s->device[n]), "%.31s", e->d_name);
		s->bpf->rodata->devices[n++] = dev;
	}
	if (d)
		closedir(d);
	return n;
}

static int rdma_open(void *self, const struct probe_env *env)
{
	static const struct rdma_entry none;
	struct rdma_source *s = self;
	int r = kernel_can_load(env->why);

	s->entries = (struct sums){ .nkey = sizeof(struct rdma_key), .nfields = RDMA_END };
	if (r == 0)
		r = kernel_tracepoint_args("sys_exit", env->why);
	if (r < 0)
		return r;
	s->bpf = rdma_bpf__open();
	if (!s->bpf)
		return -errno;
	if (!find_devices(s, env->sysfs)) {
		snprintf(env->why, WHY_LEN,
			 "this machine has no RDMA device (%s/class/infiniband_verbs): load its "
			 "driver and ib_uverbs, then start the probe again",
			 env->sysfs);
		return -ENODEV;
	}
	r = rdma_bpf__load(s->bpf);
	kernel_loaded(s->bpf->skeleton->data, s->bpf->skeleton->data_sz);
	if (r < 0)
		return kernel_explain(r, env->why);
	/* the entry for everything that does not fit; never deleted */
	r = bpf_map__update_elem(s->bpf->maps.entries, &others, sizeof(others), &none, sizeof(none),
				 BPF_NOEXIST);
	return r < 0 ? r : kernel_explain(rdma_bpf__attach(s->bpf), env->why);
}

/* "device=uverbs0,program=train,result=EINVAL" */
static bool name_of(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT])
{
	const struct rdma_source *s = arg;
	char program[RDMA_NAME * 2];
	struct rdma_key k;
	const char *error;

	(void)value;
	memcpy(&k, key, sizeof(k));
	snprintf(name, ITEM_MAX_TEXT, "(others)");
	if (k.device >= RDMA_DEVICES)
		return true;
	text_clean_into(program, sizeof(program), k.program, strnlen(k.program, RDMA_NAME));
	error = k.error ? strerrorname_np((int)k.error) : "ok";
	snprintf(name, ITEM_MAX_TEXT, "device=%s,program=%s,result=%s", s->device[k.device],
		 program, error ? error : "unknown");
	return true;
}

static void send_entry(void *arg, const char *name, const double *since, const double *all)
{
	struct rdma_source *s = arg;

	(void)all;
	sink_sample(s->out, &(struct sample_item){ layout_rdma.layout, name, RDMA_END, since });
}

static int rdma_read(void *self, struct sink *out)
{
	struct rdma_source *s = self;

	map_sums_read(&(struct map_sums){
		.map = s->bpf->maps.entries,
		.sums = &s->entries,
		.others = &others,
		.name = name_of,
		.arg = s,
	});
	s->out = out;
	sums_report(&s->entries, send_entry, s);
	s->out = NULL;
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_rdma };

const struct source source_rdma = {
	.name = "rdma",
	.help = "ioctl calls on RDMA devices by program, and their errors",
	.period_ms = 10000,
	.steady = true,
	.needs_hardware = true,
	.size = sizeof(struct rdma_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = rdma_open,
	.read = rdma_read,
	.close = rdma_close,
};

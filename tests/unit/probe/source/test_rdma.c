// SPDX-License-Identifier: Apache-2.0
/* The test machines have no RDMA device: /dev/null stands in for one, as it refuses any ioctl. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "probe/source/sources.h"
#include "tests/lib/test.h"

static char why[WHY_LEN];
static const struct probe_config config = { .on_demand = "rdma" };

static void make(const char *dir, const char *below, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, below);
	if (!text) {
		CHECK_EQ(mkdir(path, 0755), 0);
		return;
	}
	f = fopen(path, "we");
	CHECK(f && fputs(text, f) >= 0);
	fclose(f);
}

static void remove_all(const char *dir)
{
	static const char *const made[] = { "class/infiniband_verbs/uverbs0/dev",
					    "class/infiniband_verbs/uverbs0",
					    "class/infiniband_verbs/abi_version",
					    "class/infiniband_verbs", "class" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		remove(path);
	}
	rmdir(dir);
}

/* The calls and errors sent for an entity. */
static void sent_value(const struct sink *out, const char *entity, double v[static 2])
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	v[0] = v[1] = 0;
	CHECK_EQ(wire_body_decode(a, out->metric.data, out->metric.len, &b), 0);
	for (uint32_t i = 0; i < b.nsamples; i++)
		if (strcmp(b.samples[i].entity, entity) == 0)
			memcpy(v, b.samples[i].v, 2 * sizeof(*v));
}

static void call(const char *path, unsigned long request, int times)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), n = 0;

	for (int i = 0; i < times; i++)
		ioctl(fd, request, &n);
	close(fd);
}

TEST(ioctl_calls_on_a_device_are_counted_by_program_and_error)
{
	char dir[] = "/tmp/seismo-rdma.XXXXXX";
	AUTO_FREE void *self = calloc(1, source_rdma.size);
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = dir, .config = &config, .why = why
	};
	struct sink out = { 0 };
	double v[2];

	if (geteuid() != 0)
		return;
	CHECK(mkdtemp(dir) != NULL);
	make(dir, "class", NULL);
	make(dir, "class/infiniband_verbs", NULL);
	make(dir, "class/infiniband_verbs/abi_version", "6\n"); /* no device */
	make(dir, "class/infiniband_verbs/uverbs0", NULL);
	make(dir, "class/infiniband_verbs/uverbs0/dev", "1:3\n");
	prctl(PR_SET_NAME, "rdma test");
	CHECK_EQ(source_rdma.open(self, &env), 0);
	call("/dev/null", TIOCGWINSZ, 7); /* ENOTTY */
	call("/dev/null", FIOCLEX, 3); /* valid on any file */
	call("/dev/zero", TIOCGWINSZ, 5);
	call("/", TIOCGWINSZ, 5);
	CHECK_EQ(source_rdma.read(self, &out), 0);
	sent_value(&out, "device=uverbs0,program=rdma test,result=ENOTTY", v);
	CHECK_EQ((int)v[0], 7);
	CHECK_EQ((int)v[1], 7);
	sent_value(&out, "device=uverbs0,program=rdma test,result=ok", v);
	CHECK_EQ((int)v[0], 3);
	CHECK_EQ((int)v[1], 0);
	source_rdma.close(self);
	remove_all(dir);
	buf_free(&out.event);
	buf_free(&out.metric);
}

TEST(a_machine_without_an_rdma_device_reports_it)
{
	AUTO_FREE void *self = calloc(1, source_rdma.size);
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/nonexistent", .config = &config, .why = why
	};

	if (geteuid() != 0)
		return;
	CHECK(source_rdma.open(self, &env) < 0);
	CHECK(strstr(why, "this machine has no RDMA device (/nonexistent/class/infiniband_verbs)"));
	source_rdma.close(self);
}

// SPDX-License-Identifier: Apache-2.0
/* doctor_nginx.c - checks for each running nginx whether its own records can be read. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "probe/doctor/doctor.h"
#include "probe/doctor/doctor_line.h"
#include "probe/request/nginx/nginx_kernel.h"
#include "probe/request/nginx/nginx_offsets.h"
#include "probe/request/nginx/nginx_discovery.h"
#include "probe/sandbox/privilege.h"

enum { RING_BYTES = 256 * 1024, LOOKS = 16, PATH_ROOM = 256 };
#define WAIT_MAX_NS (2 * 1000000000ull)
#define MS 1000000ull

struct visit {
	struct nginx_kernel *kernel; /* NULL: not supported by this kernel */
	int error;
	uint32_t n;
	struct seen {
		struct foreign_id file;
		struct nginx_elf elf;
		char path[PATH_ROOM];
		int attached;
		uint32_t looks;
		bool found;
	} seen[NGINX_BINARIES];
};

static int on_known(void *arg, const struct foreign_id *f)
{
	const struct visit *v = arg;

	for (uint32_t i = 0; i < v->n; i++)
		if (foreign_id_equal(&v->seen[i].file, f))
			return (int)i;
	return -1;
}

static int on_found(void *arg, const struct foreign_id *f, const struct nginx_elf *elf,
		    const char *path)
{
	struct visit *v = arg;
	struct seen *s = &v->seen[v->n];
	ssize_t len;

	if (v->n == NGINX_BINARIES)
		return -1;
	*s = (struct seen){ .file = *f, .elf = *elf, .attached = v->error };
	len = readlink(path, s->path, sizeof(s->path) - 1);
	s->path[len > 0 ? len : 0] = 0;
	if (v->kernel)
		s->attached = nginx_kernel_attach(v->kernel, v->n, path, elf, 0);
	if (s->attached == 0)
		nginx_kernel_look(v->kernel, v->n, LOOKS);
	return (int)v->n++;
}

static int on_record(void *arg, void *data, size_t len)
{
	struct visit *v = arg;
	const struct nginx_look *l = data;
	struct nginx_offsets o;

	if (len < sizeof(*l) || l->head.binary >= v->n)
		return 0;
	v->seen[l->head.binary].looks++;
	if (nginx_offsets_find(l, clock_wall_ns() / 1000000000u, &o) == 0)
		v->seen[l->head.binary].found = true;
	return 0;
}

static bool all_found(const struct visit *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->seen[i].attached == 0 && !v->seen[i].found)
			return false;
	return true;
}

static void report_binary(const struct seen *s)
{
	const char *dear = s->elf.cheap ? ""
					: "; a uprobe would cost each request 10 us there, so its "
					  "records are read with --nginx on only";
	char name[PATH_ROOM + 8];

	snprintf(name, sizeof(name), "nginx %s", s->path);
	if (s->attached < 0)
		doctor_line(false, name, "no probe there: %s; it is seen by its sockets",
			    strerror(-s->attached));
	else if (s->found)
		doctor_line(s->elf.cheap, name, "its own records can be read%s", dear);
	else if (s->looks)
		doctor_line(false, name,
			    "the layout of its requests was not found; it is seen by its sockets");
	else
		doctor_line(true, name,
			    "has served nothing in 2 s; its first requests will show whether its "
			    "own records can be read%s",
			    dear);
}

void doctor_nginx(const char *procfs)
{
	struct visit v = { 0 };
	const struct nginx_hooks hooks = { on_known, on_found, &v };
	const struct scope all = { 0 };
	AUTO_CLOSE int ring_fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, RING_BYTES, NULL);
	struct nginx_discovery *watch = nginx_discovery_new(procfs, &hooks);
	struct ring_buffer *ring =
		ring_fd < 0 ? NULL : ring_buffer__new(ring_fd, on_record, &v, NULL);
	uint64_t begin = clock_mono_ns();

	v.error = ring ? nginx_kernel_open(&v.kernel, ring_fd, &all) : -EPERM;
	nginx_discovery_all(watch, begin);
	while (v.kernel && !all_found(&v) && clock_mono_ns() - begin < WAIT_MAX_NS) {
		usleep(50 * 1000);
		ring_buffer__consume(ring);
	}
	for (uint32_t i = 0; i < v.n; i++)
		report_binary(&v.seen[i]);
	if (!v.n)
		doctor_line(true, "nginx", "none runs");
	nginx_kernel_close(v.kernel);
	ring_buffer__free(ring);
	nginx_discovery_free(watch);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/nginx/nginx_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/syscall.h>

#include "lib/base/log.h"
#include "probe/kernel/kernel_load.h"
#include "bpf/request/nginx_uprobe.skel.h"

/*
 * Since 6.16 a uprobe made by perf_event_open needs CAP_SYS_ADMIN, which is dropped before most
 * programs are found. Multi uprobes (6.6) work with CAP_BPF and CAP_PERFMON; headers of older
 * systems lack them.
 */
enum { UPROBE_MULTI = 48 }; /* enum bpf_attach_type */

union multi_attr {
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t cnt, multi_flags, pid;
	};
	uint64_t whole[8];
};

struct nginx_kernel {
	struct bpf_object *obj;
	const struct bpf_program *program;
	bool multi;
	int layouts_fd;
	struct scope scope;
	struct bpf_link *link[NGINX_BINARIES];
	int multi_fd[NGINX_BINARIES]; /* for multi uprobes; 0: none */
	uint64_t lost; /* of programs that were detached */
};

static int attach_multi(const struct nginx_kernel *k, const char *path, uint64_t offset,
			uint64_t cookie)
{
	union multi_attr a = { .prog_fd = (uint32_t)bpf_program__fd(k->program),
			       .attach_type = UPROBE_MULTI,
			       .path = (uintptr_t)path,
			       .offsets = (uintptr_t)&offset,
			       .cookies = (uintptr_t)&cookie,
			       .cnt = 1 };
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));

	return fd < 0 ? -errno : fd;
}

static int load_object(struct nginx_kernel *k, int ring_fd, int type)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "nginx");
	struct bpf_program *program;
	size_t len;
	const void *bytes = nginx_uprobe_bpf__elf_bytes(&len);
	int r;

	k->obj = bpf_object__open_mem(bytes, len, &opts);
	if (!k->obj)
		return -errno;
	program = bpf_object__find_program_by_name(k->obj, "on_free_request");
	bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)type);
	r = bpf_map__reuse_fd(bpf_object__find_map_by_name(k->obj, "ring"), ring_fd);
	if (r == 0)
		r = bpf_object__load(k->obj);
	kernel_loaded(bytes, len);
	if (r < 0)
		return r;
	k->program = program;
	k->layouts_fd = bpf_object__find_map_fd_by_name(k->obj, "layouts");
	return 0;
}

/*
 * libbpf detects the older way of attaching by loading a program, which seccomp.c forbids by the
 * time the first nginx is found. An attempt on an invalid descriptor makes libbpf detect it now.
 */
static void probe_attach_method(const struct nginx_kernel *k, int ring_fd)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);

	bpf_link__destroy(bpf_program__attach_perf_event(k->program, ring_fd));
	libbpf_set_print(print);
}

/* A kernel with multi uprobes rejects a directory with -EBADF. */
static int load_first(struct nginx_kernel *k, int ring_fd)
{
	int r;

	k->multi =
		load_object(k, ring_fd, UPROBE_MULTI) == 0 && attach_multi(k, "/", 1, 0) == -EBADF;
	if (k->multi)
		return 0;
	bpf_object__close(k->obj);
	r = load_object(k, ring_fd, 0);
	if (r == 0)
		probe_attach_method(k, ring_fd);
	return r;
}

int nginx_kernel_open(struct nginx_kernel **out, int ring_fd, const struct scope *scope)
{
	struct nginx_kernel *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		die("out of memory");
	k->scope = *scope;
	r = load_first(k, ring_fd);
	if (r < 0) {
		nginx_kernel_close(k);
		return r;
	}
	*out = k;
	return 0;
}

static void detach_one(struct nginx_kernel *k, uint32_t i)
{
	bpf_link__destroy(k->link[i]);
	k->link[i] = NULL;
	if (k->multi_fd[i] > 0)
		close(k->multi_fd[i]);
	k->multi_fd[i] = 0;
}

void nginx_kernel_close(struct nginx_kernel *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < NGINX_BINARIES; i++)
		detach_one(k, i);
	bpf_object__close(k->obj);
	free(k);
}

static void update_layout(struct nginx_kernel *k, uint32_t i, const struct nginx_layout *to)
{
	struct nginx_layout was = { 0 }, is = *to;

	bpf_map_lookup_elem(k->layouts_fd, &i, &was);
	is.lost = was.lost;
	bpf_map_update_elem(k->layouts_fd, &i, &is, BPF_ANY);
}

int nginx_kernel_attach(struct nginx_kernel *k, uint32_t i, const char *path,
			const struct nginx_elf *elf, uint32_t token)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = i);
	struct nginx_layout l = { .token = token,
				  .scope_id = k->scope.cgroup_id,
				  .scope_level = k->scope.level,
				  .probe_at = elf->probe_at,
				  .clock_at = elf->clock_at };

	update_layout(k, i, &l);
	if (k->multi) {
		k->multi_fd[i] = attach_multi(k, path, elf->probe_offset, i);
		return k->multi_fd[i] < 0 ? k->multi_fd[i] : 0;
	}
	k->link[i] =
		bpf_program__attach_uprobe_opts(k->program, -1, path, elf->probe_offset, &opts);
	return k->link[i] ? 0 : -errno;
}

void nginx_kernel_detach(struct nginx_kernel *k, uint32_t i)
{
	struct nginx_layout was = { 0 }, none = { 0 };

	detach_one(k, i);
	bpf_map_lookup_elem(k->layouts_fd, &i, &was);
	k->lost += was.lost;
	bpf_map_update_elem(k->layouts_fd, &i, &none, BPF_ANY);
}

void nginx_kernel_look(struct nginx_kernel *k, uint32_t i, int looks)
{
	struct nginx_layout l;

	if (bpf_map_lookup_elem(k->layouts_fd, &i, &l) < 0)
		return;
	l.mode = NGINX_LOOKS;
	l.looks = looks;
	update_layout(k, i, &l);
}

int nginx_kernel_looks(struct nginx_kernel *k, uint32_t i)
{
	struct nginx_layout l;

	return bpf_map_lookup_elem(k->layouts_fd, &i, &l) < 0 ? 0 : l.looks;
}

void nginx_kernel_read(struct nginx_kernel *k, uint32_t i, uint16_t states, uint16_t status,
		       uint16_t start)
{
	struct nginx_layout l;

	if (bpf_map_lookup_elem(k->layouts_fd, &i, &l) < 0)
		return;
	l.mode = NGINX_READS;
	l.states = states;
	l.status = status;
	l.start = start;
	update_layout(k, i, &l);
}

uint64_t nginx_kernel_lost(struct nginx_kernel *k)
{
	uint64_t lost = k->lost;

	for (uint32_t i = 0; i < NGINX_BINARIES; i++) {
		struct nginx_layout l;

		if (bpf_map_lookup_elem(k->layouts_fd, &i, &l) == 0)
			lost += l.lost;
	}
	return lost;
}

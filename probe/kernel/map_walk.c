// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/map_walk.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "probe/kernel/kernel_btf.h"

static int iterator_in(const struct btf *btf, const char *name)
{
	char function[64];

	snprintf(function, sizeof(function), "bpf_iter_%s", name);
	return btf ? btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) : -ENOENT;
}

int map_walk_allowed(const char *iterator)
{
	const struct bpf_insn nothing[] = { /* r0 = 0; exit */
					    { .code = BPF_ALU64 | BPF_MOV | BPF_K },
					    { .code = BPF_JMP | BPF_EXIT }
	};
	int id = iterator_in(kernel_btf(), iterator);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = (__u32)id);

	if (id < 0)
		return id;
	AUTO_CLOSE int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "may_walk", "GPL", nothing,
					  ARRAY_SIZE(nothing), &opts);

	return fd < 0 ? -errno : 0;
}

void map_walk_choose(const struct map_walk *w)
{
	const char *iterator = strchr(bpf_program__section_name(w->by_map), '/') + 1;
	bool may = map_walk_allowed(iterator) == 0;

	bpf_program__set_autoload(w->by_map, may);
	bpf_program__set_autoload(w->otherwise, !may);
}

struct bpf_link *map_walk_attach(const struct map_walk *w, int map_fd)
{
	union bpf_iter_link_info info = { .map.map_fd = (__u32)map_fd };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));

	if (bpf_program__autoload(w->by_map))
		return bpf_program__attach_iter(w->by_map, &opts);
	return bpf_program__attach_iter(w->otherwise, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/request/kernel/request_programs.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "probe/kernel/kernel_btf.h"
#include "probe/kernel/kernel_load.h"
#include "probe/core/source.h"

enum need {
	NEED_SPLIT, /* required for the time breakdown */
	NEED_MORE, /* adds one cause to it */
	NEED_ALWAYS, /* costs nothing while nothing is wrong */
};

static const struct {
	const char *program;
	enum need need;
} optional[] = {
	{ "on_switch", NEED_SPLIT },
	{ "on_waking", NEED_SPLIT },
	{ "on_thread_exit", NEED_SPLIT },
	{ "adopt", NEED_MORE },
	{ "on_dirty", NEED_MORE },
	{ "on_reclaim_begin", NEED_MORE },
	{ "on_reclaim_end", NEED_MORE },
	{ "on_memcg_reclaim_begin", NEED_MORE },
	{ "on_memcg_reclaim_end", NEED_MORE },
	{ "on_retransmit", NEED_ALWAYS },
	{ "on_retransmit_tried", NEED_ALWAYS },
};

/* Selects one of the two by the arguments of the kernel's tracepoint. */
static void choose_retransmit(struct bpf_object *obj, const struct btf *btf)
{
	bool tried = kernel_args_in(btf, "tcp_retransmit_skb") > 2;

	bpf_program__set_autoload(bpf_object__find_program_by_name(
					  obj, tried ? "on_retransmit" : "on_retransmit_tried"),
				  false);
}

/* The kernel has the tracepoint or iterator of the program. */
static bool is_there(const struct btf *btf, const struct bpf_program *p)
{
	const char *section = bpf_program__section_name(p), *name = strchr(section, '/') + 1;
	bool iter = strncmp(section, "iter/", 5) == 0;
	char type[96];

	snprintf(type, sizeof(type), "%s%s", iter ? "bpf_iter_" : "btf_trace_", name);
	return btf &&
	       btf__find_by_name_kind(btf, type, iter ? BTF_KIND_FUNC : BTF_KIND_TYPEDEF) > 0;
}

bool request_programs_choose(struct bpf_object *obj, bool split)
{
	const struct btf *btf = kernel_btf();

	for (size_t i = 0; i < ARRAY_SIZE(optional); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, optional[i].program);
		bool there = is_there(btf, p);

		if (optional[i].need == NEED_SPLIT && !there)
			split = false;
		if (!there || (!split && optional[i].need != NEED_ALWAYS))
			bpf_program__set_autoload(p, false);
	}
	if (!split) /* may have become false after on_switch was chosen */
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(obj, optional[0].program), false);
	choose_retransmit(obj, btf);
	return split;
}

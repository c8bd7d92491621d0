// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/switch_chain.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/base/log.h"

static const uint32_t place = 0;

void switch_chain_first(struct switch_chain *c, struct bpf_map *jump)
{
	if (c)
		c->jump = jump;
}

void switch_chain_second(struct switch_chain *c, struct bpf_program *second, struct bpf_link **own)
{
	if (!c)
		return;
	c->second = second;
	c->own = own;
}

void switch_chain_join(struct switch_chain *c)
{
	int fd;

	if (!c || !c->jump || !c->second || c->is_joined || c->is_refused)
		return;
	fd = bpf_program__fd(c->second);
	if (bpf_map_update_elem(bpf_map__fd(c->jump), &place, &fd, BPF_ANY) < 0) {
		c->is_refused = true;
		log_warn(errno,
			 "sources files and request attach to context switches separately, which "
			 "costs about 100 ns per switch: the kernel does not allow the jump from "
			 "one "
			 "program to the other");
		return;
	}
	bpf_link__destroy(*c->own);
	*c->own = NULL;
	c->is_joined = true;
}

void switch_chain_part(struct switch_chain *c)
{
	if (!c || !c->is_joined)
		return;
	*c->own = bpf_program__attach(c->second);
	if (!*c->own) {
		if (!c->is_refused)
			log_warn(errno, "the cost of source request at context switches is counted "
					"for source files: its program cannot be attached "
					"separately again");
		c->is_refused = true;
		return;
	}
	bpf_map_delete_elem(bpf_map__fd(c->jump), &place);
	c->is_joined = false;
}

void switch_chain_end(struct switch_chain *c)
{
	switch_chain_part(c);
	if (c)
		*c = (struct switch_chain){ 0 };
}

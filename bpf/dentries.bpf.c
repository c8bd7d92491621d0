// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dentries.bpf.c - names of files that the dentry cache had not, by cgroup: each is a dentry that
 * is made. Those of sockets, pipes and the like have no name that anybody looks for; they are told
 * by who makes them. The hook is where any object of the kernel's caches is made: on demand only.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "cgroup_tell.h"
#include "dentries.h"

enum { FRAMES = 10 };

const volatile __u64 nameless_from, nameless_to; /* d_alloc_pseudo */

static const void *dentry_cache; /* NULL: not seen yet */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DENTRIES_CGROUPS + 1);
	__type(key, __u64);
	__type(value, struct dentries_cgroup);
} cgroups SEC(".maps");

/* What a new entry begins with: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dentries_cgroup);
} nothing SEC(".maps");

static __noinline struct dentries_cgroup *cgroup_add(struct task_struct *t, __u64 id)
{
	struct kernfs_node *n = BPF_CORE_READ(cgroup_of(t), kn);
	struct dentries_cgroup *c;
	__u32 zero = 0;
	void *new = bpf_map_lookup_elem(&nothing, &zero);

	if (!new)
		return NULL;
	if (!bpf_map_update_elem(&cgroups, &id, new, BPF_NOEXIST)) {
		c = bpf_map_lookup_elem(&cgroups, &id);
		if (c)
			cgroup_tell(&c->at, n);
		return c;
	}
	c = bpf_map_lookup_elem(&cgroups, &id); /* somebody else's, just now */
	if (c)
		return c;
	id = CGROUP_TOLD_OTHERS;
	return bpf_map_lookup_elem(&cgroups, &id);
}

static __always_inline bool is_nameless(void *ctx)
{
	__u64 ip[FRAMES] = {};

	if (bpf_get_stack(ctx, ip, sizeof(ip), 0) <= 0)
		return false;
	for (int i = 0; i < FRAMES; i++)
		if (ip[i] >= nameless_from && ip[i] < nameless_to)
			return true;
	return false;
}

/* The cache is one for all the time; it is known by its name once. */
static __always_inline bool is_dentry(const struct kmem_cache *cache)
{
	char name[8] = {};

	if (dentry_cache)
		return cache == dentry_cache;
	bpf_probe_read_kernel_str(name, sizeof(name), cache->name);
	if (__builtin_memcmp(name, "dentry\0", sizeof(name)))
		return false;
	dentry_cache = cache;
	return true;
}

/* What was made, or that it was not, is not looked at: 6.1 gives no program a const void *. */
SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(on_alloc, unsigned long site, const void *object, struct kmem_cache *cache)
{
	struct dentries_cgroup *c;
	struct task_struct *t;
	__u64 id;

	if (!is_dentry(cache) || is_nameless(ctx))
		return 0;
	t = bpf_get_current_task_btf();
	id = id_of_cgroup(cgroup_of(t));
	c = bpf_map_lookup_elem(&cgroups, &id);
	if (!c)
		c = cgroup_add(t, id);
	if (c)
		__sync_fetch_and_add(&c->misses, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

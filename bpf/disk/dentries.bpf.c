// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dentries.bpf.c - dentry cache misses by cgroup: each miss creates a dentry. Dentries of sockets,
 * pipes and the like have no name to look up; they are recognized by the function that creates them
 * and not counted. The hook runs for every object from any of the kernel's caches, so this source
 * is on demand only.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/disk/dentries.h"
#include "bpf/lib/sample.h"

#define CGROUP_ENTRY struct dentries_cgroup
#define CGROUP_ENTRIES DENTRIES_CGROUPS
#include "bpf/lib/cgroup_add.h"

enum { FRAMES = 10 };

const volatile __u64 nameless_from, nameless_to; /* d_alloc_pseudo */

static const void *dentry_cache; /* NULL: not seen yet */

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

/* There is one dentry cache for the life of the kernel; it is identified by its name once. */
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

/* The allocated object (or NULL on failure) is not read: 6.1 gives no program a const void *. */
SEC("tp_btf/kmem_cache_alloc")
int BPF_PROG(on_alloc, unsigned long site, const void *object, struct kmem_cache *cache)
{
	struct dentries_cgroup *c;
	struct task_struct *t;
	__u64 id, of;

	if (!is_dentry(cache))
		return 0;
	of = sampled();
	if (!of || is_nameless(ctx))
		return 0;
	t = bpf_get_current_task_btf();
	id = id_of_cgroup(cgroup_of(t));
	c = bpf_map_lookup_elem(&cgroups, &id);
	if (!c)
		c = cgroup_add(t, id);
	if (c)
		__sync_fetch_and_add(&c->misses, of);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

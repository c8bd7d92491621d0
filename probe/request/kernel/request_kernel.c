// SPDX-License-Identifier: Apache-2.0
#include "probe/request/kernel/request_kernel.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/mman.h>

#include "lib/base/log.h"
#include "probe/kernel/kernel_btf.h"
#include "probe/kernel/cpu_clock.h"
#include "probe/kernel/kernel_counts.h"
#include "probe/kernel/kernel_load.h"
#include "probe/sandbox/privilege.h"
#include "probe/request/kernel/request_programs.h"
#include "bpf/request/request_sockets.skel.h"
#include "probe/request/kernel/request_sweep.h"
#include "bpf/request/request_syscalls.skel.h"
#include "probe/core/source.h"

#define STALE_NS                                                                                   \
	(600 * 1000000000ull) /* a request without call activity for this long is forgotten */
#define ADOPT_NS (1000 * 1000000ull)
#define PRUNE_NS (60 * 1000000000ull)

#define BLOCK_NS 2000000ull /* waits from this length on are recorded with stack and culprit */

enum { MAX_LINKS = 20 };

struct request_kernel {
	struct bpf_object *obj;
	struct req_control *control; /* mapped */
	size_t control_len;
	struct ring_buffer *ring;
	struct request_sweep sweep;
	struct bpf_link *adopt, *link[MAX_LINKS];
	struct switch_chain *chain;
	struct cpu_clock *clock; /* NULL: busy threads are not sampled */
	size_t nlinks;
	bool split; /* the hooks on the scheduler are loaded */
	int calls_fd, unix_fd;
	int cgroup_fd; /* of the root, until the packet programs are attached; -1: none */
	uint64_t next_prune_ns, next_adopt_ns;
	bool may_sweep; /* answers that began before the rest may still be open */
	uint64_t clock_ns, clock_jiffies; /* at the first sweep */
	struct kernel_counts counts;
};

static const struct hooks {
	const char *name;
	const void *(*object)(size_t *len);
	const char *missing;
} hooks[HOOKS_END] = {
	[HOOKS_SOCKETS] = { "sockets", request_sockets_bpf__elf_bytes,
			    "no tracepoint sock_send_length in this kernel; needs 6.3 or later, "
			    "or hooks = syscalls" },
	[HOOKS_SYSCALLS] = { "syscalls", request_syscalls_bpf__elf_bytes,
			     "this kernel does not accept the hooks on system calls; needs 5.15 or "
			     "later" },
};

/* Releases what is loaded; k can be loaded once more. */
static void unload_object(struct request_kernel *k)
{
	if (k->cgroup_fd >= 0)
		close(k->cgroup_fd);
	k->cgroup_fd = -1;
	switch_chain_end(k->chain);
	k->chain = NULL;
	ring_buffer__free(k->ring);
	cpu_clock_close(k->clock);
	request_sweep_close(&k->sweep);
	bpf_link__destroy(k->adopt);
	while (k->nlinks)
		bpf_link__destroy(k->link[--k->nlinks]);
	if (k->control)
		munmap(k->control, k->control_len);
	kernel_counts_close(&k->counts);
	bpf_object__close(k->obj);
	k->ring = NULL;
	k->clock = NULL;
	k->adopt = NULL;
	k->control = NULL;
	k->obj = NULL;
}

void request_kernel_close(struct request_kernel *k)
{
	if (!k)
		return;
	unload_object(k);
	free(k);
}

static int fail_why(char *why, int r, const char *text)
{
	snprintf(why, WHY_LEN, "%s", text);
	return r;
}

static int map_fd(const struct request_kernel *k, const char *name)
{
	return bpf_object__find_map_fd_by_name(k->obj, name);
}

/* Sets map sizes before the load to the configured maxima; memory is used on demand. */
static int open_object(struct request_kernel *k, const struct hooks *h,
		       const struct request_options *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "request");
	struct bpf_map *conns;
	size_t len;
	const void *bytes = h->object(&len);

	k->obj = bpf_object__open_mem(bytes, len, &opts);
	if (!k->obj)
		return -errno;
	k->split = request_programs_choose(k->obj, o->split);
	request_sweep_choose(k->obj);
	conns = bpf_object__find_map_by_name(k->obj, "conns");
	if (bpf_map__type(conns) == BPF_MAP_TYPE_HASH)
		bpf_map__set_max_entries(conns, o->conns);
	return bpf_map__set_max_entries(bpf_object__find_map_by_name(k->obj, "ring"),
					(uint32_t)o->ring_bytes);
}

static int find_maps(struct request_kernel *k)
{
	struct bpf_map *bss = bpf_object__find_map_by_name(k->obj, ".bss");
	void *p;

	k->control_len = (size_t)sysconf(_SC_PAGESIZE);
	p = mmap(NULL, k->control_len, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(bss), 0);
	if (p == MAP_FAILED)
		return -errno;
	k->control = p;
	k->calls_fd = map_fd(k, "calls_of");
	k->unix_fd = map_fd(k, "unix_names");
	return kernel_counts_open(&k->counts, bpf_object__find_map_by_name(k->obj, "counts"));
}

/* Iterators do not run until requested. */
static int attach_iterators(struct request_kernel *k)
{
	int r = request_sweep_open(&k->sweep, k->obj);

	if (r == 0 && k->split) /* without it, work handed to other threads is not attributed */
		k->adopt = bpf_program__attach_iter(
			bpf_object__find_program_by_name(k->obj, "adopt"), NULL);
	return r;
}

static int attach_hooks(struct request_kernel *k, const struct request_options *o)
{
	struct bpf_program *p;
	int r = attach_iterators(k);

	k->chain = o->chain;
	bpf_object__for_each_program(p, k->obj)
	{
		if (bpf_program__type(p) != BPF_PROG_TYPE_TRACING ||
		    strncmp(bpf_program__section_name(p), "iter/", 5) == 0 ||
		    !bpf_program__autoload(p))
			continue;
		assert(k->nlinks < MAX_LINKS);
		k->link[k->nlinks] = r < 0 ? NULL : bpf_program__attach(p);
		if (!k->link[k->nlinks])
			return r < 0 ? r : -errno;
		if (strcmp(bpf_program__name(p), "on_switch") == 0)
			switch_chain_second(o->chain, p, &k->link[k->nlinks]);
		k->nlinks++;
	}
	p = bpf_object__find_program_by_name(k->obj, "on_clock");
	if (k->split && cpu_clock_open(&k->clock, p, REQ_PROFILE_HZ) < 0)
		log_warn(errno,
			 "user stacks of busy requests are not sampled: no timer on the CPUs");
	/* enabled after all hooks are attached: a partial view shows requests without answers */
	k->control->own_tgid = (uint32_t)getpid();
	k->control->scope_id = o->scope.cgroup_id;
	k->control->scope_level = o->scope.level;
	k->control->conns_max = o->conns;
	k->control->split = k->split;
	k->control->block_ns = BLOCK_NS;
	__atomic_store_n(&k->control->on, 1, __ATOMIC_RELEASE);
	return 0;
}

static int load_object(struct request_kernel *k, const struct hooks *h,
		       const struct request_options *o, char *why)
{
	const void *bytes;
	size_t len;
	int r = open_object(k, h, o);

	if (r == 0)
		r = kernel_counts_size(bpf_object__find_map_by_name(k->obj, "counts"));
	if (r == 0)
		r = bpf_object__load(k->obj);
	bytes = h->object(&len);
	kernel_loaded(bytes, len);
	if (r == -EACCES || r == -EPERM)
		return kernel_explain(r, why);
	if (r < 0)
		return fail_why(why, r, h->missing);
	r = find_maps(k);
	if (r < 0)
		return r;
	k->cgroup_fd = scope_root(o->procfs);
	return attach_hooks(k, o);
}

/* Loads the named hooks, or the first that work. why is that of the last attempt. */
static int load_first(struct request_kernel *k, const struct request_options *o, char *why)
{
	int r = -EINVAL;

	if (!privilege_has_bpf())
		return fail_why(why, -EPERM,
				"needs root (or CAP_BPF and CAP_PERFMON); start as root");
	if (access(KERNEL_BTF, R_OK) < 0)
		return fail_why(why, -ENOENT,
				"this kernel has no BTF; boot one with CONFIG_DEBUG_INFO_BTF=y");
	for (size_t i = 0; i < HOOKS_END && r < 0; i++) {
		if (strcmp(o->hooks, "auto") != 0 && strcmp(o->hooks, hooks[i].name) != 0)
			continue;
		r = load_object(k, &hooks[i], o, why);
		if (r < 0)
			unload_object(k);
	}
	return r;
}

int request_kernel_open(struct request_kernel **out, const struct request_options *o,
			int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why)
{
	struct request_kernel *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		die("out of memory");
	k->cgroup_fd = -1;
	r = load_first(k, o, why);
	if (r == 0) {
		k->ring = ring_buffer__new(map_fd(k, "ring"), on_record, arg, NULL);
		r = k->ring ? 0 : -errno;
	}
	if (r < 0) {
		request_kernel_close(k);
		return r;
	}
	*out = k;
	return 0;
}

int request_kernel_ring(const struct request_kernel *k)
{
	return map_fd(k, "ring");
}

const char *request_kernel_unix(struct request_kernel *k, const struct req_addr *a,
				char text[static UNIX_TEXT])
{
	struct req_unix name = { 0 };
	size_t len;
	uint64_t key;

	memcpy(&key, a->ip, sizeof(key));
	if (bpf_map_lookup_elem(k->unix_fd, &key, &name) < 0)
		name.len = 0;
	len = name.len < REQ_UNIX_PATH ? name.len : REQ_UNIX_PATH;
	if (len && !name.path[0])
		name.path[0] = '@'; /* abstract address, as in ss and /proc/net/unix */
	snprintf(text, UNIX_TEXT, "unix:%.*s", (int)strnlen(name.path, len), name.path);
	return text;
}

/*
 * Once io_uring moves bytes on some socket, requests are read from packets. Not earlier, as it
 * costs a little for every packet of the host. Without a root cgroup2 they are only counted.
 */
static void watch_packets(struct request_kernel *k)
{
	struct bpf_program *p;

	if (k->cgroup_fd < 0 || !kernel_counts_sum(&k->counts, STAT_URING))
		return;
	bpf_object__for_each_program(p, k->obj)
	{
		if (bpf_program__type(p) != BPF_PROG_TYPE_CGROUP_SKB)
			continue;
		assert(k->nlinks < MAX_LINKS);
		k->link[k->nlinks] = bpf_program__attach_cgroup(p, k->cgroup_fd);
		if (!k->link[k->nlinks])
			log_warn(errno, "requests by io_uring are counted but not read: cannot "
					"attach to packets");
		else
			k->nlinks++;
	}
	close(k->cgroup_fd);
	k->cgroup_fd = -1;
}

/* Removes calls of requests whose end was not seen. */
static void prune_calls(struct request_kernel *k, uint64_t now_ns)
{
	uint64_t key, next;
	struct req_calls calls;
	int r = bpf_map_get_next_key(k->calls_fd, NULL, &next);

	while (r == 0) {
		key = next;
		r = bpf_map_get_next_key(k->calls_fd, &key, &next);
		if (bpf_map_lookup_elem(k->calls_fd, &key, &calls) == 0 &&
		    calls.touched_ns + STALE_NS < now_ns)
			bpf_map_delete_elem(k->calls_fd, &key);
	}
}

/* Compares two readings of both clocks for the length of a jiffy (CONFIG_HZ). */
static void measure_jiffy(struct request_kernel *k, uint64_t *jiffy_ns)
{
	const struct req_control *c = k->control;
	uint64_t ticks;

	if (*jiffy_ns || !c->clock_ns)
		return;
	if (!k->clock_ns) {
		k->clock_ns = c->clock_ns;
		k->clock_jiffies = c->clock_jiffies;
		return;
	}
	ticks = c->clock_jiffies - k->clock_jiffies;
	if (c->clock_ns - k->clock_ns > 500000000ull && ticks)
		k->control->jiffy_ns = *jiffy_ns = (c->clock_ns - k->clock_ns) / ticks;
}

bool request_kernel_splits(const struct request_kernel *k)
{
	return k->split;
}

/* A resting reader is woken for answers that begin later; earlier ones need one more sweep. */
void request_kernel_rest(struct request_kernel *k, bool rests)
{
	if (k->control->resting == rests)
		return;
	k->control->resting = rests;
	k->may_sweep = true;
}

static int run_sweep(struct request_kernel *k, uint64_t now_ns)
{
	int r;

	k->control->answered = 0;
	r = request_sweep_run(&k->sweep, now_ns);
	k->may_sweep = k->control->answered;
	return r;
}

int request_kernel_read(struct request_kernel *k, uint64_t now_ns, uint64_t *jiffy_ns)
{
	const bool rests = k->control->resting;
	int r = 0;

	if (now_ns >= k->sweep.next_ns && (!rests || k->may_sweep)) {
		r = run_sweep(k, now_ns);
		watch_packets(k);
		measure_jiffy(k, jiffy_ns);
	}
	if (k->adopt && !rests && now_ns >= k->next_adopt_ns) {
		k->next_adopt_ns = now_ns + ADOPT_NS;
		(void)!kernel_iterate(
			k->adopt); /* on failure, work of other threads is not attributed */
	}
	if (now_ns >= k->next_prune_ns) {
		k->next_prune_ns = now_ns + PRUNE_NS;
		prune_calls(k, now_ns);
	}
	return r < 0 ? r : ring_buffer__consume(k->ring);
}

void request_kernel_stats(struct request_kernel *k, uint64_t out[static STAT_END])
{
	for (uint32_t i = 0; i < STAT_END; i++)
		out[i] = kernel_counts_sum(&k->counts, i);
}

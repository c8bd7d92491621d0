// SPDX-License-Identifier: Apache-2.0
#include "request_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "../lib/log.h"
#include "privilege.h"
#include "request.skel.h"
#include "source.h"

#define SWEEP_NS (100 * 1000000ull)
#define STALE_NS (600 * 1000000000ull) /* a request without a word from its calls for so long */
#define PRUNE_NS (60 * 1000000000ull)

struct request_kernel {
	struct request_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_link *sweep;
	uint64_t next_sweep_ns, next_prune_ns;
	uint64_t clock_ns, clock_jiffies; /* at the first sweep */
	int ncpu;
	uint64_t *percpu;
};

void request_kernel_close(struct request_kernel *k)
{
	if (!k)
		return;
	ring_buffer__free(k->ring);
	bpf_link__destroy(k->sweep);
	request_bpf__destroy(k->skel);
	free(k->percpu);
	free(k);
}

/* The sweep walks the sockets' storage; it needs no socket and no process to be named. */
static int attach_sweep(struct request_kernel *k)
{
	union bpf_iter_link_info info = { .map.map_fd = (__u32)bpf_map__fd(k->skel->maps.conns) };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));

	k->sweep = bpf_program__attach_iter(k->skel->progs.sweep, &opts);
	return k->sweep ? 0 : -errno;
}

static int say(char *why, int r, const char *text)
{
	snprintf(why, WHY_LEN, "%s", text);
	return r;
}

static int load(struct request_kernel *k, size_t ring_bytes, char *why)
{
	int r;

	if (!privilege_has_bpf())
		return say(why, -EPERM, "needs root (or CAP_BPF and CAP_PERFMON); start as root");
	if (access(KERNEL_BTF, R_OK) < 0)
		return say(why, -ENOENT,
			   "this kernel has no BTF; boot one with CONFIG_DEBUG_INFO_BTF=y");
	k->skel = request_bpf__open();
	if (!k->skel)
		return -errno;
	bpf_map__set_max_entries(k->skel->maps.ring, (uint32_t)ring_bytes);
	r = request_bpf__load(k->skel);
	if (r == -ESRCH || r == -EINVAL || r == -ENOENT)
		return say(why, r,
			   "this kernel has no tracepoint sock_send_length; needs 6.3 or later");
	if (r == -EPERM || r == -EACCES)
		return say(why, r,
			   "the kernel does not permit BPF here; in a container, give it CAP_BPF "
			   "and CAP_PERFMON of the host");
	return r < 0 ? say(why, r, "the kernel refused the program; please report its version") : 0;
}

static int attach(struct request_kernel *k, const struct scope *scope)
{
	int r = attach_sweep(k);

	if (r < 0)
		return r;
	k->skel->links.on_recv = bpf_program__attach(k->skel->progs.on_recv);
	k->skel->links.on_send = bpf_program__attach(k->skel->progs.on_send);
	k->skel->links.on_state = bpf_program__attach(k->skel->progs.on_state);
	k->skel->links.on_destroy = bpf_program__attach(k->skel->progs.on_destroy);
	if (!k->skel->links.on_recv || !k->skel->links.on_send || !k->skel->links.on_state ||
	    !k->skel->links.on_destroy)
		return -errno;
	/* one switch, after all hooks: half a view would show requests that nobody answers */
	k->skel->bss->control.own_tgid = (uint32_t)getpid();
	k->skel->bss->control.scope_id = scope->cgroup_id;
	k->skel->bss->control.scope_level = scope->level;
	__atomic_store_n(&k->skel->bss->control.on, 1, __ATOMIC_RELEASE);
	return 0;
}

int request_kernel_open(struct request_kernel **out, size_t ring_bytes, const struct scope *scope,
			int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why)
{
	struct request_kernel *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		die("out of memory");
	k->ncpu = libbpf_num_possible_cpus();
	k->percpu = calloc(k->ncpu > 0 ? (size_t)k->ncpu : 1, sizeof(*k->percpu));
	if (!k->percpu)
		die("out of memory");
	r = load(k, ring_bytes, why);
	if (r == 0)
		r = attach(k, scope);
	if (r == 0) {
		k->ring = ring_buffer__new(bpf_map__fd(k->skel->maps.ring), on_record, arg, NULL);
		r = k->ring ? 0 : -errno;
	}
	if (r < 0) {
		request_kernel_close(k);
		return r;
	}
	*out = k;
	return 0;
}

static int run_sweep(struct request_kernel *k)
{
	int fd = bpf_iter_create(bpf_link__fd(k->sweep));
	char none[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

/* Requests that ended where we could not see it leave their calls behind. */
static void prune(struct request_kernel *k, uint64_t now_ns)
{
	int fd = bpf_map__fd(k->skel->maps.calls_of);
	uint64_t key, next;
	struct {
		uint32_t n, answered;
		uint64_t touched_ns;
		struct req_call call[REQ_CALLS];
	} calls;
	int r = bpf_map_get_next_key(fd, NULL, &next);

	while (r == 0) {
		key = next;
		r = bpf_map_get_next_key(fd, &key, &next);
		if (bpf_map_lookup_elem(fd, &key, &calls) == 0 &&
		    calls.touched_ns + STALE_NS < now_ns)
			bpf_map_delete_elem(fd, &key);
	}
}

/* Both clocks, read twice, far enough apart: the length of a jiffy, as CONFIG_HZ has it. */
static void measure_jiffy(struct request_kernel *k, uint64_t *jiffy_ns)
{
	const struct req_control *c = &k->skel->bss->control;
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
		*jiffy_ns = (c->clock_ns - k->clock_ns) / ticks;
}

int request_kernel_read(struct request_kernel *k, uint64_t now_ns, uint64_t *jiffy_ns)
{
	int r = 0;

	if (now_ns >= k->next_sweep_ns) {
		k->next_sweep_ns = now_ns + SWEEP_NS;
		r = run_sweep(k);
		measure_jiffy(k, jiffy_ns);
	}
	if (now_ns >= k->next_prune_ns) {
		k->next_prune_ns = now_ns + PRUNE_NS;
		prune(k, now_ns);
	}
	if (r == 0)
		r = ring_buffer__consume(k->ring);
	return r < 0 ? r : 0;
}

int request_kernel_stats(struct request_kernel *k, uint64_t out[static STAT_END])
{
	for (uint32_t i = 0; i < STAT_END; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.stats), &i, k->percpu) < 0)
			return -errno;
		out[i] = 0;
		for (int cpu = 0; cpu < k->ncpu; cpu++)
			out[i] += k->percpu[cpu];
	}
	return 0;
}

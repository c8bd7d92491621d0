// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* own_bad.bpf.c - programs that a probe does not take; own.sh makes one of each by -DNAME. Without:
 * one that it takes. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#ifdef BIG
enum { ENTRIES = 1 << 20 };
#else
enum { ENTRIES = 16 };
#endif

struct key {
	unsigned int id;
	char comm[16];
};

struct value {
	__u64 slots[8];
	__u64 n;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENTRIES);
	__type(key, struct key);
	__type(value, struct value);
#ifdef PINNED
	__uint(pinning, LIBBPF_PIN_BY_NAME);
#endif
} counts SEC(".maps");

#ifdef RING
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");
#endif

static __noinline int act(void *at)
{
#ifdef SIGNAL
	return bpf_send_signal(9);
#elif defined(WRITE)
	return bpf_probe_write_user(at, &at, sizeof(at));
#else
	return at != 0;
#endif
}

#if defined(PLENTY)
SEC("raw_tp/sched_switch")
#elif defined(TRAFFIC)
SEC("xdp")
#elif defined(NOWHERE)
SEC("tracepoint")
#else
SEC("raw_tp/cpuhp_enter") /* when a processor comes or goes */
#endif
int on_call(void *ctx)
{
	struct key key = { .id = 1 };
	struct value *v;
#ifdef PLENTY
	const struct value one = { .n = 1 };

	key.id = bpf_get_prandom_u32() % 8;
	bpf_map_update_elem(&counts, &key, &one, BPF_ANY);
#endif
	v = bpf_map_lookup_elem(&counts, &key);

#ifdef REFUSED
	v->n++; /* it may be NULL */
#else
	if (v)
		v->n++;
#endif
#ifdef RING
	bpf_ringbuf_output(&ring, &key, sizeof(key), 0);
#endif
	return act(ctx) > 100;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drop.bpf.c - a network that loses segments: a classifier where a packet comes in from a link, so
 * that whoever sent it believes it went out. Each loss is reported, and when the same bytes came
 * by.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tests/fault/tools/drop.h"

struct flow_key {
	__u32 saddr, daddr;
	__u16 sport, dport;
};

struct flow {
	__u32 mode; /* 0: not drawn */
	__u32 segments; /* with data, seen so far */
	__u32 lost_seq, times; /* the segment that is being lost, and how often it was */
	__u32 open; /* lost, not yet come by again */
	__u32 syns;
	__u64 until_ns; /* of a burst */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct flow_key);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

const volatile struct drop_rule rule;
__u64 full; /* events that found no room */

struct packet {
	struct flow_key key;
	__u32 seq, len, offset;
	__u32 syn;
};

static int packet_read(struct __sk_buff *skb, struct packet *p)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct iphdr *ip = data + ETH_HLEN;
	struct tcphdr *tcp = (void *)(ip + 1);

	if ((void *)(tcp + 1) > end || skb->protocol != bpf_htons(ETH_P_IP))
		return 0;
	if (ip->protocol != IPPROTO_TCP || ip->ihl != 5)
		return 0;
	p->key.saddr = ip->saddr;
	p->key.daddr = ip->daddr;
	p->key.sport = bpf_ntohs(tcp->source);
	p->key.dport = bpf_ntohs(tcp->dest);
	if ((rule.sport && rule.sport != p->key.sport) ||
	    (rule.dport && rule.dport != p->key.dport))
		return 0;
	p->offset = ETH_HLEN + sizeof(*ip) + tcp->doff * 4;
	p->len = bpf_ntohs(ip->tot_len) - sizeof(*ip) - tcp->doff * 4;
	p->seq = bpf_ntohl(tcp->seq);
	p->syn = tcp->syn;
	return 1;
}

static void report(struct __sk_buff *skb, const struct packet *p, __u32 what, __u32 mode)
{
	struct drop_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	__u32 n = p->len;

	if (!e) {
		__sync_fetch_and_add(&full, 1);
		return;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->ns = bpf_ktime_get_ns();
	e->what = what;
	e->mode = mode;
	e->seq = p->seq;
	e->len = p->len;
	e->sport = p->key.sport;
	e->dport = p->key.dport;
	e->syn = p->syn;
	if (n > DROP_HEAD - 1)
		n = DROP_HEAD - 1;
	if (what == FIRST_DATA && n > 0)
		bpf_skb_load_bytes(skb, p->offset, e->head, n);
	bpf_ringbuf_submit(e, 0);
}

static __u32 draw(void)
{
	__u32 modes = rule.modes & ~DROP_ANY, at = bpf_get_prandom_u32() % 4;

	if (!modes || bpf_get_prandom_u32() % (rule.one_in ? rule.one_in : 1))
		return 0;
	for (int i = 0; i < 4; i++, at++)
		if (modes & (1u << (at % 4)))
			return 1u << (at % 4);
	return 0;
}

static struct flow *flow_of(const struct packet *p)
{
	struct flow *f = bpf_map_lookup_elem(&flows, &p->key), fresh = {};

	if (f && !(p->syn && !f->segments && !f->syns))
		return f;
	fresh.mode = draw();
	bpf_map_update_elem(&flows, &p->key, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&flows, &p->key);
}

/* The segment at seq is lost now, and again when `again`; what was lost before is still open. */
static int lose(struct __sk_buff *skb, const struct packet *p, struct flow *f, __u32 mode)
{
	if (!f->open)
		f->lost_seq = p->seq;
	f->open = 1;
	f->times++;
	report(skb, p, DROPPED, mode);
	return TC_ACT_SHOT;
}

static int data_came(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	__u64 now = bpf_ktime_get_ns();

	if (f->segments++ == 0)
		report(skb, p, FIRST_DATA, f->mode);
	if (rule.modes & DROP_ANY && bpf_get_prandom_u32() % (rule.one_in ? rule.one_in : 1) == 0)
		return lose(skb, p, f, DROP_ANY);
	if (f->mode == DROP_BURST && f->segments > rule.after) {
		if (!f->until_ns)
			f->until_ns = now + rule.burst_ms * 1000000ull;
		if (now < f->until_ns)
			return lose(skb, p, f, f->mode);
	}
	if (f->mode & (DROP_ONE | DROP_TWICE)) {
		if (!f->times && f->segments > rule.after)
			return lose(skb, p, f, f->mode);
		if (f->mode == DROP_TWICE && f->times == 1 && p->seq == f->lost_seq)
			return lose(skb, p, f, f->mode);
	}
	if (f->open && p->seq == f->lost_seq) {
		f->open = 0;
		report(skb, p, PASSED_AGAIN, f->mode);
	}
	return TC_ACT_OK;
}

static int syn_came(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	if (f->syns++ == 0 && f->mode == DROP_SYN)
		return lose(skb, p, f, f->mode);
	if (f->open && p->seq == f->lost_seq) {
		f->open = 0;
		report(skb, p, PASSED_AGAIN, f->mode);
	}
	return TC_ACT_OK;
}

SEC("tc")
int drop(struct __sk_buff *skb)
{
	struct packet p = {};
	struct flow *f;

	if (!packet_read(skb, &p) || (!p.len && !p.syn))
		return TC_ACT_OK;
	f = flow_of(&p);
	if (!f)
		return TC_ACT_OK;
	return p.syn ? syn_came(skb, &p, f) : data_came(skb, &p, f);
}

char _license[] SEC("license") = "Dual BSD/GPL";

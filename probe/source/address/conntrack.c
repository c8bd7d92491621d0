// SPDX-License-Identifier: Apache-2.0
#include "probe/foreign/foreign.h"
#include "probe/source/address/conntrack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <stdio.h>

#include "probe/procfs/proc_text.h"
#include "probe/source/address/netlink.h"

enum {
	REQUEST = 64,
	CHUNK = 16384,
	ANSWERS_MOST = 1024, /* of the own namespace; some 60 flows each */
	LINES_MOST = 1024, /* of another namespace: before 6.16 each page of the file costs a walk
			      over all before it */
	LINE = 512,
	WORD = 64,
};

/* The attributes of one level, by type. One without a rule, or not of its rule's length, is
 * ignored. */
struct attr_rule {
	enum mnl_attr_data_type type; /* MNL_TYPE_UNSPEC: no rule */
	size_t len; /* 0: any */
};

struct attrs {
	const struct attr_rule *rule;
	uint16_t max; /* type */
	const struct nlattr *by_type[CTA_MAX + 1];
};

static const struct attr_rule flow_rules[] = {
	[CTA_TUPLE_ORIG] = { MNL_TYPE_NESTED, 0 },
	[CTA_TUPLE_REPLY] = { MNL_TYPE_NESTED, 0 },
};
static const struct attr_rule tuple_rules[] = {
	[CTA_TUPLE_IP] = { MNL_TYPE_NESTED, 0 },
	[CTA_TUPLE_PROTO] = { MNL_TYPE_NESTED, 0 },
};
static const struct attr_rule ip_rules[] = {
	[CTA_IP_V4_SRC] = { MNL_TYPE_U32, 4 },
	[CTA_IP_V4_DST] = { MNL_TYPE_U32, 4 },
	[CTA_IP_V6_SRC] = { MNL_TYPE_BINARY, 16 },
	[CTA_IP_V6_DST] = { MNL_TYPE_BINARY, 16 },
};
static const struct attr_rule proto_rules[] = {
	[CTA_PROTO_NUM] = { MNL_TYPE_U8, 1 },
	[CTA_PROTO_SRC_PORT] = { MNL_TYPE_U16, 2 },
	[CTA_PROTO_DST_PORT] = { MNL_TYPE_U16, 2 },
};
#define ATTRS(rules)                                                                               \
	{                                                                                          \
		.rule = (rules), .max = ARRAY_SIZE(rules) - 1                                      \
	}

static int keep_attr(const struct nlattr *a, void *ctx)
{
	const uint16_t type = mnl_attr_get_type(a);
	struct attrs *all = ctx;

	if (mnl_attr_type_valid(a, all->max) < 0 || all->rule[type].type == MNL_TYPE_UNSPEC)
		return MNL_CB_OK;
	if (mnl_attr_validate2(a, all->rule[type].type, all->rule[type].len) == 0)
		all->by_type[type] = a;
	return MNL_CB_OK;
}

static void take_ip(const struct nlattr *in, struct addr *src, struct addr *dst)
{
	struct attrs ip = ATTRS(ip_rules);
	const struct nlattr **a = ip.by_type;

	mnl_attr_parse_nested(in, keep_attr, &ip);
	if (a[CTA_IP_V4_SRC])
		*src = addr_make(mnl_attr_get_payload(a[CTA_IP_V4_SRC]), 4, 0);
	else if (a[CTA_IP_V6_SRC])
		*src = addr_make(mnl_attr_get_payload(a[CTA_IP_V6_SRC]), 16, 0);
	if (a[CTA_IP_V4_DST])
		*dst = addr_make(mnl_attr_get_payload(a[CTA_IP_V4_DST]), 4, 0);
	else if (a[CTA_IP_V6_DST])
		*dst = addr_make(mnl_attr_get_payload(a[CTA_IP_V6_DST]), 16, 0);
}

static bool take_ports(const struct nlattr *in, uint16_t *src, uint16_t *dst)
{
	struct attrs proto = ATTRS(proto_rules);
	const struct nlattr **a = proto.by_type;

	mnl_attr_parse_nested(in, keep_attr, &proto);
	if (a[CTA_PROTO_SRC_PORT])
		*src = ntohs(mnl_attr_get_u16(a[CTA_PROTO_SRC_PORT]));
	if (a[CTA_PROTO_DST_PORT])
		*dst = ntohs(mnl_attr_get_u16(a[CTA_PROTO_DST_PORT]));
	return a[CTA_PROTO_NUM] && mnl_attr_get_u8(a[CTA_PROTO_NUM]) == IPPROTO_TCP;
}

static bool take_tuple(const struct nlattr *in, struct addr *src, struct addr *dst)
{
	struct attrs tuple = ATTRS(tuple_rules);
	const struct nlattr **a = tuple.by_type;
	uint16_t from = 0, to = 0;
	bool tcp = false;

	mnl_attr_parse_nested(in, keep_attr, &tuple);
	if (a[CTA_TUPLE_IP])
		take_ip(a[CTA_TUPLE_IP], src, dst);
	if (a[CTA_TUPLE_PROTO])
		tcp = take_ports(a[CTA_TUPLE_PROTO], &from, &to);
	src->port = from;
	dst->port = to;
	return tcp && src->len && dst->len;
}

/* Not mnl_attr_parse, whose end of a message is rounded up beyond its length. */
static void take_flow(const struct nlmsghdr *m, void *n)
{
	const char *body = mnl_nlmsg_get_payload_offset(m, sizeof(struct nfgenmsg));
	struct attrs flow = ATTRS(flow_rules);
	const struct nlattr **a = flow.by_type;
	struct nat_flow f = { 0 };

	mnl_attr_parse_payload(body, mnl_nlmsg_get_payload_len(m) - sizeof(struct nfgenmsg),
			       keep_attr, &flow);
	if (a[CTA_TUPLE_ORIG] && take_tuple(a[CTA_TUPLE_ORIG], &f.from, &f.to) &&
	    a[CTA_TUPLE_REPLY] && take_tuple(a[CTA_TUPLE_REPLY], &f.answers, &f.hears))
		nat_add(n, &f, 0);
}

int conntrack_message(struct nat *n, const void *data, size_t len)
{
	return netlink_parse(data, len, sizeof(struct nfgenmsg), take_flow, n);
}

/* All flows with this status bit; kernels before 5.18 ignore the filter and send all. */
static int dump_flows(struct nat *n, uint32_t status)
{
	_Alignas(struct nlmsghdr) char buf[REQUEST];
	struct nlmsghdr *m =
		netlink_dump_request(buf, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET);
	struct nfgenmsg *of = mnl_nlmsg_put_extra_header(m, sizeof(*of));
	int r;

	of->nfgen_family = AF_UNSPEC;
	of->version = NFNETLINK_V0;
	mnl_attr_put_u32(m, CTA_STATUS, htonl(status));
	mnl_attr_put_u32(m, CTA_STATUS_MASK, htonl(status));
	r = netlink_dump(NETLINK_NETFILTER, m, ANSWERS_MOST, sizeof(*of), take_flow, n);
	n->left_out += r > 0;
	return r > 0 ? 0 : r;
}

/* Dumps only if connections are tracked: otherwise the kernel would load a module to answer. */
int conntrack_own(struct nat *n, struct buf *text, const char *procfs, uint32_t *tracked)
{
	struct words file, line;
	double count = 0;
	int r = 0;

	nat_begin(n, 0);
	if (proc_read(text, procfs, "sys/net/netfilter/nf_conntrack_count", &file) == 0 &&
	    proc_line(&file, &line))
		count = proc_number(&line);
	if (count > 0)
		r = dump_flows(n, IPS_DST_NAT);
	if (count > 0 && r == 0)
		r = dump_flows(n, IPS_SRC_NAT);
	if (r == 0)
		nat_end(n, 0);
	*tracked = count > 0 ? (uint32_t)count : 0;
	return r;
}

static bool take_value(const char *word, const char *key, char value[static WORD])
{
	size_t n = strlen(key);

	if (strncmp(word, key, n) != 0 || word[n] != '=')
		return false;
	snprintf(value, WORD, "%s", word + n + 1);
	return true;
}

static bool take_text_ip(const char *text, struct addr *out)
{
	uint8_t ip[16];

	if (inet_pton(AF_INET, text, ip) == 1)
		*out = addr_make(ip, 4, out->port);
	else if (inet_pton(AF_INET6, text, ip) == 1)
		*out = addr_make(ip, 16, out->port);
	else
		return false;
	return true;
}

/* "ipv4 2 tcp 6 117 ESTABLISHED src=1.2.3.4 dst=... sport=5 dport=6 src=... [ASSURED] ...": the
 * original direction, then the reply. */
void conntrack_line(struct nat *n, const char *line, size_t len, uint64_t netns)
{
	struct nat_flow f = { 0 };
	struct addr *ip[] = { &f.from, &f.to, &f.answers, &f.hears };
	unsigned ips = 0, ports = 0;
	char copy[LINE], value[WORD], *save = NULL;

	if (len >= sizeof(copy) || !memmem(line, len, " tcp ", 5))
		return;
	memcpy(copy, line, len);
	copy[len] = 0;
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		bool is_ip = take_value(w, ips % 2 ? "dst" : "src", value);

		if (is_ip && ips < ARRAY_SIZE(ip) && take_text_ip(value, ip[ips]))
			ips++;
		else if (ports < ARRAY_SIZE(ip) &&
			 take_value(w, ports % 2 ? "dport" : "sport", value))
			ip[ports++]->port = (uint16_t)strtoul(value, NULL, 10);
	}
	if (ips == ARRAY_SIZE(ip) && ports == ARRAY_SIZE(ip))
		nat_add(n, &f, netns);
}

/* The number of tracked connections: the first column of the first line after the header. */
static unsigned long tracked_by(struct buf *text, const char *procfs, const char *pid)
{
	struct words file, line, word;
	char path[64];

	snprintf(path, sizeof(path), "%.32s/net/stat/nf_conntrack", pid);
	if (proc_read(text, procfs, path, &file) < 0 || !proc_line(&file, &line) ||
	    !proc_line(&file, &line) || !proc_word(&line, &word))
		return 0;
	return strtoul(word.p, NULL, 16);
}

static void take_lines(struct nat *n, int fd, uint64_t netns)
{
	char chunk[CHUNK];
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, chunk + have, sizeof(chunk) - have)) > 0) {
		const char *p = chunk, *end;

		have += (size_t)got;
		while ((end = memchr(p, '\n', have - (size_t)(p - chunk)))) {
			conntrack_line(n, p, (size_t)(end - p), netns);
			p = end + 1;
		}
		have -= (size_t)(p - chunk);
		memmove(chunk, p, have);
	}
}

void conntrack_of(struct nat *n, struct buf *text, const char *procfs, const char *pid,
		  uint64_t netns)
{
	unsigned long tracked = tracked_by(text, procfs, pid);
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;

	nat_begin(n, netns);
	if (tracked > LINES_MOST) {
		n->left_out += n->left_out < INT32_MAX;
		return;
	}
	snprintf(path, sizeof(path), "%s/%s/net/nf_conntrack", procfs, pid);
	if (tracked)
		fd = foreign_open_text_at(AT_FDCWD, path);
	if (fd >= 0)
		take_lines(n, fd, netns);
	nat_end(n, netns);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/conntrack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "probe/procfs/proc_text.h"

enum {
	ANSWER = 16384,
	ANSWERS_MOST = 1024, /* of the own namespace; some 60 flows each */
	LINES_MOST = 1024, /* of another namespace: before 6.16 each page of the file costs a walk
			      over all before it */
	LINE = 512,
	WORD = 64,
};

/* A netlink attribute. next_attr returns where the following one begins; NULL: no more. */
struct attr {
	uint16_t type;
	const uint8_t *p;
	size_t len;
};

static const uint8_t *next_attr(const uint8_t *p, const uint8_t *end, struct attr *a)
{
	struct nlattr head;
	size_t step;

	if ((size_t)(end - p) < sizeof(head))
		return NULL;
	memcpy(&head, p, sizeof(head));
	if (head.nla_len < sizeof(head) || head.nla_len > end - p)
		return NULL;
	*a = (struct attr){ head.nla_type & NLA_TYPE_MASK, p + sizeof(head),
			    head.nla_len - sizeof(head) };
	step = NLA_ALIGN(head.nla_len);
	return step < (size_t)(end - p) ? p + step : end;
}

static void take_ip(const struct attr *in, struct addr *src, struct addr *dst)
{
	const uint8_t *end = in->p + in->len, *p = in->p;
	struct attr a;

	while ((p = next_attr(p, end, &a))) {
		bool four = a.type == CTA_IP_V4_SRC || a.type == CTA_IP_V4_DST;
		bool to = a.type == CTA_IP_V4_DST || a.type == CTA_IP_V6_DST;

		if (a.type >= CTA_IP_V4_SRC && a.type <= CTA_IP_V6_DST && a.len == (four ? 4 : 16))
			*(to ? dst : src) = addr_make(a.p, a.len, 0);
	}
}

static bool take_ports(const struct attr *in, uint16_t *src, uint16_t *dst)
{
	const uint8_t *end = in->p + in->len, *p = in->p;
	bool tcp = false;
	struct attr a;

	while ((p = next_attr(p, end, &a))) {
		if (a.type == CTA_PROTO_NUM && a.len == 1)
			tcp = *a.p == IPPROTO_TCP;
		if (a.len != 2)
			continue;
		if (a.type == CTA_PROTO_SRC_PORT)
			*src = (uint16_t)(a.p[0] << 8 | a.p[1]);
		if (a.type == CTA_PROTO_DST_PORT)
			*dst = (uint16_t)(a.p[0] << 8 | a.p[1]);
	}
	return tcp;
}

static bool take_tuple(const struct attr *in, struct addr *src, struct addr *dst)
{
	const uint8_t *end = in->p + in->len, *p = in->p;
	uint16_t from = 0, to = 0;
	bool tcp = false;
	struct attr a;

	while ((p = next_attr(p, end, &a))) {
		if (a.type == CTA_TUPLE_IP)
			take_ip(&a, src, dst);
		else if (a.type == CTA_TUPLE_PROTO)
			tcp = take_ports(&a, &from, &to);
	}
	src->port = from;
	dst->port = to;
	return tcp && src->len && dst->len;
}

static void take_flow(struct nat *n, const uint8_t *p, const uint8_t *end)
{
	struct nat_flow f = { 0 };
	bool there = false, back = false;
	struct attr a;

	while ((p = next_attr(p, end, &a))) {
		if (a.type == CTA_TUPLE_ORIG)
			there = take_tuple(&a, &f.from, &f.to);
		else if (a.type == CTA_TUPLE_REPLY)
			back = take_tuple(&a, &f.answers, &f.hears);
	}
	if (there && back)
		nat_add(n, &f, 0);
}

int conntrack_message(struct nat *n, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len >= sizeof(struct nlmsghdr)) {
		const size_t body = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));
		struct nlmsghdr head;
		int error;
		size_t step;

		memcpy(&head, p, sizeof(head));
		if (head.nlmsg_type == NLMSG_DONE)
			return 0;
		if (head.nlmsg_len < body || head.nlmsg_len > len)
			return -EBADMSG;
		if (head.nlmsg_type == NLMSG_ERROR) {
			memcpy(&error, p + NLMSG_HDRLEN, sizeof(error));
			return error == -EPERM ? error : -EOPNOTSUPP;
		}
		take_flow(n, p + body, p + head.nlmsg_len);
		step = NLMSG_ALIGN(head.nlmsg_len);
		p += step < len ? step : len;
		len -= step < len ? step : len;
	}
	return 1;
}

/* Requests all flows with this status bit; kernels before 5.18 ignore the filter and send all. */
static int send_request(int fd, uint32_t status)
{
	const struct {
		struct nlmsghdr head;
		struct nfgenmsg of;
		struct nlattr status;
		uint32_t value;
		struct nlattr mask;
		uint32_t bits;
	} m = { .head = { .nlmsg_len = sizeof(m),
			  .nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.of = { .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0 },
		.status = { sizeof(struct nlattr) + sizeof(uint32_t), CTA_STATUS },
		.value = htonl(status),
		.mask = { sizeof(struct nlattr) + sizeof(uint32_t), CTA_STATUS_MASK },
		.bits = htonl(status) };

	return send(fd, &m, sizeof(m), 0) < 0 ? -errno : 0;
}

static int dump_flows(struct nat *n, uint32_t status)
{
	AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	char answer[ANSWER];
	int r = fd < 0 ? -EOPNOTSUPP : send_request(fd, status);

	if (r < 0)
		return r;
	for (int i = 0; i < ANSWERS_MOST; i++) {
		ssize_t len = recv(fd, answer, sizeof(answer), 0);

		if (len <= 0)
			return len < 0 ? -errno : -EBADMSG;
		r = conntrack_message(n, answer, (size_t)len);
		if (r <= 0)
			return r;
	}
	n->left_out++;
	return 0;
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
	char chunk[ANSWER];
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
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		take_lines(n, fd, netns);
	nat_end(n, netns);
}

// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/sock_diag.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { ANSWER = 16384 };

static int send_request(int fd, uint8_t family)
{
	const struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} m = { .head = { .nlmsg_len = sizeof(m),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .sdiag_family = family,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = 1u << TCP_LISTEN } };

	return send(fd, &m, sizeof(m), 0) < 0 ? -errno : 0;
}

static void add_listener(struct addr_list *l, const struct inet_diag_msg *d)
{
	struct found_addr *f;

	if (d->idiag_state != TCP_LISTEN)
		return;
	f = addr_list_add(l);
	if (!f)
		return;
	f->kind = PLACE_LISTENER;
	f->addr = addr_make(d->id.idiag_src, d->idiag_family == AF_INET ? 4 : 16,
			    ntohs(d->id.idiag_sport));
	f->inode = d->idiag_inode;
}

/* 1: more follows. */
static int add_listeners(struct addr_list *l, const char *data, size_t len)
{
	while (len >= sizeof(struct nlmsghdr)) {
		struct nlmsghdr head;
		struct inet_diag_msg d;
		size_t step;

		memcpy(&head, data, sizeof(head));
		if (head.nlmsg_type == NLMSG_DONE)
			return 0;
		if (head.nlmsg_type == NLMSG_ERROR)
			return -EOPNOTSUPP;
		if (head.nlmsg_len < NLMSG_HDRLEN + sizeof(d) || head.nlmsg_len > len)
			return -EBADMSG;
		memcpy(&d, data + NLMSG_HDRLEN, sizeof(d));
		add_listener(l, &d);
		step = NLMSG_ALIGN(head.nlmsg_len);
		data += step < len ? step : len;
		len -= step < len ? step : len;
	}
	return 1;
}

static int dump_listeners(int fd, struct addr_list *l, uint8_t family)
{
	char answer[ANSWER];
	int r = send_request(fd, family);

	if (r < 0)
		return r;
	do {
		ssize_t n = recv(fd, answer, sizeof(answer), 0);

		r = n < 0 ? -errno : n == 0 ? -EBADMSG : add_listeners(l, answer, (size_t)n);
	} while (r > 0);
	return r;
}

int sock_diag_read(struct addr_list *l)
{
	AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	const uint32_t n = l->n;
	int r = fd < 0 ? -errno : dump_listeners(fd, l, AF_INET);

	if (r == 0)
		r = dump_listeners(fd, l, AF_INET6);
	if (r < 0)
		l->n = n;
	return r;
}

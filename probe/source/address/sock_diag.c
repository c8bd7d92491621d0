// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/sock_diag.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>

#include "probe/source/address/netlink.h"

enum { REQUEST = 128 };

static void add_listener(const struct nlmsghdr *m, void *ctx)
{
	const struct inet_diag_msg *d = mnl_nlmsg_get_payload(m);
	struct found_addr *f;

	if (d->idiag_state != TCP_LISTEN)
		return;
	f = addr_list_add(ctx);
	if (!f)
		return;
	f->kind = PLACE_LISTENER;
	f->addr = addr_make(d->id.idiag_src, d->idiag_family == AF_INET ? 4 : 16,
			    ntohs(d->id.idiag_sport));
	f->inode = d->idiag_inode;
}

static int dump_listeners(struct addr_list *l, uint8_t family)
{
	_Alignas(struct nlmsghdr) char buf[REQUEST];
	struct nlmsghdr *m = netlink_dump_request(buf, SOCK_DIAG_BY_FAMILY);
	struct inet_diag_req_v2 *req = mnl_nlmsg_put_extra_header(m, sizeof(*req));

	req->sdiag_family = family;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_states = 1u << TCP_LISTEN;
	return netlink_dump(NETLINK_SOCK_DIAG, m, UINT32_MAX, sizeof(struct inet_diag_msg),
			    add_listener, l);
}

int sock_diag_read(struct addr_list *l)
{
	const uint32_t n = l->n;
	int r = dump_listeners(l, AF_INET);

	if (r == 0)
		r = dump_listeners(l, AF_INET6);
	if (r < 0)
		l->n = n;
	return r;
}

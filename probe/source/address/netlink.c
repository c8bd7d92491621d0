// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/netlink.h"

#include <limits.h>

enum { ANSWER = 16384 };

static void socket_close_autop(struct mnl_socket **s)
{
	if (*s)
		mnl_socket_close(*s);
}

struct nlmsghdr *netlink_dump_request(void *buf, uint16_t type)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(buf);

	m->nlmsg_type = type;
	m->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	return m;
}

static int refusal(const struct nlmsghdr *m)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(m);

	if (mnl_nlmsg_get_payload_len(m) < sizeof(e->error))
		return -EBADMSG;
	return e->error == -EPERM ? -EPERM : -EOPNOTSUPP;
}

int netlink_parse(const void *data, size_t len, size_t header, netlink_fn fn, void *ctx)
{
	const struct nlmsghdr *m = data;
	int left = len < INT_MAX ? (int)len : INT_MAX;

	while (left >= (int)sizeof(*m)) {
		/* mnl_nlmsg_ok compares as int: a length of 2 GiB or more would pass. */
		if (m->nlmsg_len > (uint32_t)left || !mnl_nlmsg_ok(m, left))
			return -EBADMSG;
		if (m->nlmsg_type == NLMSG_DONE)
			return 0;
		if (m->nlmsg_type == NLMSG_ERROR)
			return refusal(m);
		if (mnl_nlmsg_get_payload_len(m) < header)
			return -EBADMSG;
		fn(m, ctx);
		m = mnl_nlmsg_next(m, &left);
	}
	return 1;
}

int netlink_dump(int family, const struct nlmsghdr *request, uint32_t answers_most, size_t header,
		 netlink_fn fn, void *ctx)
{
	AUTO(socket_close) struct mnl_socket *s = mnl_socket_open2(family, SOCK_CLOEXEC);
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	int r = 1;

	if (!s)
		return -EOPNOTSUPP;
	if (mnl_socket_sendto(s, request, request->nlmsg_len) < 0)
		return -errno;
	for (uint32_t i = 0; i < answers_most && r > 0; i++) {
		ssize_t n = mnl_socket_recvfrom(s, answer, sizeof(answer));

		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		r = netlink_parse(answer, (size_t)n, header, fn, ctx);
	}
	return r;
}

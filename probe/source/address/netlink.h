// SPDX-License-Identifier: Apache-2.0
/*
 * netlink.h - dumps from the kernel over netlink, by libmnl. No length in an answer is trusted.
 */
#pragma once

#include <libmnl/libmnl.h>

#include "lib/base/base.h"

/* A message whose payload holds at least the header that was asked for. */
typedef void (*netlink_fn)(const struct nlmsghdr *m, void *ctx);

/* Writes the header of a dump request to buf; the caller appends the rest with libmnl. */
struct nlmsghdr *netlink_dump_request(void *buf, uint16_t type);

/*
 * Sends the request on a new socket of this netlink family and calls fn for each message of the
 * answers. 0: complete; 1: answers_most read, more follow; -EPERM, -EOPNOTSUPP: the kernel refuses;
 * -errno.
 */
int netlink_dump(int family, const struct nlmsghdr *request, uint32_t answers_most, size_t header,
		 netlink_fn fn, void *ctx) MUST_CHECK;

/* One answer, aligned for struct nlmsghdr. 0: it ends the dump; 1: more follow; -errno as above. */
int netlink_parse(const void *data, size_t len, size_t header, netlink_fn fn, void *ctx) MUST_CHECK;

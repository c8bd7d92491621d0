// SPDX-License-Identifier: Apache-2.0
/* addr.h - an IP address and a port. A v4-mapped IPv6 address is stored as IPv4. */
#pragma once

#include "lib/base/base.h"

enum { ADDR_TEXT = 56 }; /* "[v6]:port" and the final 0 */

struct addr {
	uint8_t len; /* 0 none, 4, 16 */
	uint8_t ip[16]; /* network order */
	uint16_t port; /* host order */
};

/* Copies 4 or 16 bytes in network order; unmaps ::ffff:a.b.c.d. */
struct addr addr_make(const void *ip, size_t len, uint16_t port);
bool addr_equal(const struct addr *a, const struct addr *b);
const char *addr_text(const struct addr *a,
		      char text[static ADDR_TEXT]); /* "10.0.0.1:80", "" for none */
const char *addr_ip_text(const struct addr *a, char text[static ADDR_TEXT]); /* without the port */

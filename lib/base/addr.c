// SPDX-License-Identifier: Apache-2.0
#include "lib/base/addr.h"

#include <arpa/inet.h>
#include <stdio.h>

struct addr addr_make(const void *ip, size_t len, uint16_t port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct addr a = { .len = (uint8_t)len, .port = port };

	if (len == 16 && memcmp(ip, mapped, sizeof(mapped)) == 0) {
		a.len = 4;
		memcpy(a.ip, (const uint8_t *)ip + 12, 4);
	} else {
		memcpy(a.ip, ip, len);
	}
	return a;
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && a->port == b->port && memcmp(a->ip, b->ip, a->len) == 0;
}

const char *addr_ip_text(const struct addr *a, char text[static ADDR_TEXT])
{
	text[0] = 0;
	if (a->len)
		inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->ip, text, ADDR_TEXT);
	return text;
}

const char *addr_text(const struct addr *a, char text[static ADDR_TEXT])
{
	char ip[ADDR_TEXT];

	text[0] = 0;
	if (*addr_ip_text(a, ip))
		snprintf(text, ADDR_TEXT, a->len == 4 ? "%s:%u" : "[%s]:%u", ip, a->port);
	return text;
}

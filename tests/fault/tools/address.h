// SPDX-License-Identifier: Apache-2.0
/* address.h - where the servers of the benches listen, and whom they call. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

/* "10.0.0.1:80"; false: it is none. */
static inline bool address(const char *text, struct sockaddr_in *to)
{
	char host[64];
	int port;

	to->sin_family = AF_INET;
	if (sscanf(text, "%63[0-9.]:%d", host, &port) != 2)
		return false;
	to->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &to->sin_addr) == 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/endpoints.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>

static bool is_endpoint(const char *s)
{
	const char *host = s + strlen("tcp://"), *colon = strrchr(s, ':');
	unsigned long port;
	char *end;

	if (strncmp(s, "tcp://", 6) != 0 || colon <= host || !isdigit((unsigned char)colon[1]))
		return false;
	for (const char *c = host; c < colon; c++)
		if (!isgraph((unsigned char)*c))
			return false;
	port = strtoul(colon + 1, &end, 10);
	return !*end && port >= 1 && port <= 65535;
}

int endpoints_parse(const char *text, struct endpoints *out)
{
	memset(out, 0, sizeof(*out));
	for (;;) {
		size_t len;

		text += strspn(text, " ,\t");
		len = strcspn(text, " ,\t");
		if (!len)
			return out->n ? 0 : -EINVAL;
		if (out->n == ENDPOINTS_MAX)
			return -E2BIG;
		if (len >= ENDPOINT_TEXT)
			len = ENDPOINT_TEXT - 1;
		memcpy(out->at[out->n], text, len);
		out->at[out->n][len] = 0;
		if (!is_endpoint(out->at[out->n]))
			return -EINVAL;
		out->n++;
		text += strcspn(text, " ,\t");
	}
}

/* "127.0.0.1:7470" or "[::1]:7470"; the only name allowed is "localhost". */
static int parse_address(const char *text, struct endpoint *e)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char host[64], *end = NULL;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!len || len >= sizeof(host) || !end || *end || port < 1 || port > UINT16_MAX)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	if (text[0] == '[' && colon[-1] == ']') {
		snprintf(host, sizeof(host), "%.*s", (int)len - 2, text + 1);
		e->len = sizeof(e->v6);
		e->v6.sin6_family = AF_INET6;
		e->v6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host, &e->v6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, text);
	e->len = sizeof(e->v4);
	e->v4.sin_family = AF_INET;
	e->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
			 &e->v4.sin_addr) == 1
		       ? 0
		       : -EINVAL;
}

int endpoint_parse(const char *bind, struct endpoint *out, char *err, size_t errlen)
{
	struct endpoint e;

	if (strncmp(bind, "tcp://", 6) != 0 || parse_address(bind + 6, &e) < 0) {
		snprintf(err, errlen,
			 "bind = \"%s\" is not tcp://address:port, for example "
			 "tcp://127.0.0.1:7470",
			 bind);
		return -EINVAL;
	}
	*out = e;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/endpoints.h"

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

// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_asset.h"

#include <strings.h>

#include "lib/base/base.h"

static const char page[] = "/index.html";

/* The URLs of the console's pages, and of the single items below them. */
static bool is_console(const char *url)
{
	static const char *const pages[] = { "/",	  "/nodes",    "/fleet",   "/red",
					     "/requests", "/events",   "/profile", "/incidents",
					     "/where",	  "/topology", "/storage" };
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		if (strcmp(url, pages[i]) == 0)
			return true;
	return strncmp(url, "/requests/", strlen("/requests/")) == 0 ||
	       strncmp(url, "/events/", strlen("/events/")) == 0 ||
	       strncmp(url, "/incidents/", strlen("/incidents/")) == 0 ||
	       strncmp(url, "/nodes/", strlen("/nodes/")) == 0;
}

const struct web_asset *web_asset_find(const char *url)
{
	if (is_console(url))
		url = page;
	for (const struct web_asset *a = web_assets; a->path; a++)
		if (strcmp(a->path, url) == 0)
			return a;
	return NULL;
}

/* Whether the coding has a weight of 0 ("gzip;q=0.0"), which means that it is refused. */
static bool is_refused(const char *coding, size_t len)
{
	const char *q = memchr(coding, ';', len);
	size_t n;

	if (!q)
		return false;
	n = strspn(q, "; \t");
	if (strncasecmp(q + n, "q=0", 3) != 0)
		return false;
	q += n + 3;
	q += strspn(q, ".0");
	return *q == 0 || strchr(", \t", *q);
}

bool web_asset_may_pack(const char *accept)
{
	static const char gzip[] = "gzip";

	while (accept && *accept) {
		size_t n;

		accept += strspn(accept, ", \t");
		n = strcspn(accept, ",");
		if (strncasecmp(accept, gzip, sizeof(gzip) - 1) == 0 &&
		    strchr(",; \t", accept[sizeof(gzip) - 1]))
			return !is_refused(accept, n);
		accept += n;
	}
	return false;
}

/* The build puts a content hash into every name under /assets/. */
bool web_asset_is_page(const struct web_asset *a)
{
	return strncmp(a->path, "/assets/", strlen("/assets/")) != 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/web/web_asset.h"

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

/* The build puts a content hash into every name under /assets/. */
bool web_asset_is_page(const struct web_asset *a)
{
	return strncmp(a->path, "/assets/", strlen("/assets/")) != 0;
}

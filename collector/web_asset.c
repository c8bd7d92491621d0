// SPDX-License-Identifier: Apache-2.0
#include "web_asset.h"

static const char page[] = "/index.html";

static bool is_console(const char *url)
{
	return strcmp(url, "/") == 0 || strcmp(url, "/nodes") == 0 || strcmp(url, "/red") == 0 ||
	       strcmp(url, "/requests") == 0 ||
	       strncmp(url, "/requests/", strlen("/requests/")) == 0;
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

/* The build puts a hash into every name under /assets/. */
bool web_asset_is_page(const struct web_asset *a)
{
	return strncmp(a->path, "/assets/", strlen("/assets/")) != 0;
}

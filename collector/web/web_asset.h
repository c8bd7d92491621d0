// SPDX-License-Identifier: Apache-2.0
/* web_asset.h - the files of the console, embedded by collector/web/assets.sh. */
#pragma once

#include "lib/base/base.h"

struct web_asset {
	const char *path; /* "/index.html", "/assets/index-1a2b3c4d.js" */
	const char *type;
	const char *etag; /* with its quotes */
	const void *data;
	uint64_t len;
	const void *packed; /* by gzip */
	uint64_t packed_len; /* 0: there is no packed form */
};

extern const struct web_asset web_assets[]; /* ends with a path of NULL */

/* The file at this URL, or the console's page for URLs that the console routes itself, or
 * NULL. */
const struct web_asset *web_asset_find(const char *url);
/* Whether a client that sends this Accept-Encoding (NULL: none) takes gzip, by RFC 9110, 12.5.3. */
bool web_asset_may_pack(const char *accept);
/* Whether the file may change: its name has no content hash. */
bool web_asset_is_page(const struct web_asset *a);

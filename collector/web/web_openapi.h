// SPDX-License-Identifier: Apache-2.0
/* web_openapi.h - the API's description (OpenAPI 3.1), made from the table by which it answers. */
#pragma once

#include "lib/base/buf.h"

/* /api/v1/openapi.json. Appends to out. */
void web_openapi_text(struct buf *out, const char *version);
/* /api/v1/: the paths. Appends to out. */
void web_openapi_index(struct buf *out);

// SPDX-License-Identifier: Apache-2.0
/* web_health.h - the body of /healthz: JSON, docs/reference/api.md. */
#pragma once

#include "lib/base/buf.h"

/* database: "ok", or why the console cannot read it. Appends to out. */
void web_health_text(struct buf *out, const char *version, const char *database);

// SPDX-License-Identifier: Apache-2.0
/* web_metrics.h - the counters of the collector and its console in Prometheus text format. */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/web_http.h"

void web_metrics_text(struct web_http *h, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
/* command_incident.h - `seismo-collector incident ...`: what went wrong together, and what of it is
 * decided. */
#pragma once

#include "collector/core/collector_config.h"

int command_incident(const struct config *c) MUST_CHECK; /* said, what went wrong */
void command_incident_help(void);

// SPDX-License-Identifier: Apache-2.0
/* command_incident.h - `seismo-collector incident ...`: shows incidents and decides on them. */
#pragma once

#include "collector/core/collector_config.h"

int command_incident(const struct config *c) MUST_CHECK; /* logs its errors */
size_t command_incident_list(struct config_command *out); /* returns how many there are */

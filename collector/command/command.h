// SPDX-License-Identifier: Apache-2.0
/* command.h - `seismo-collector node ...` and `seismo-collector key ...`: said once, done, and
 * over. */
#pragma once

#include "collector/core/collector_config.h"

int command_run(const struct config *c); /* the exit status; c->command is what was said */
void command_help(void);

// SPDX-License-Identifier: Apache-2.0
/* command.h - the subcommands of seismo-collector: node, inventory, incident and key. */
#pragma once

#include "collector/core/collector_config.h"

enum { COMMANDS = 24 };

int command_run(const struct config *c); /* runs c->command; returns the exit status */
size_t command_list(struct config_command out[static COMMANDS]); /* returns how many there are */

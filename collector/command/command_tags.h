// SPDX-License-Identifier: Apache-2.0
/* command_tags.h - sets the tags of nodes: `node tag` and `inventory FILE`. */
#pragma once

#include "collector/command/command_session.h"

int command_tag(struct command_session *s);
int command_inventory(struct command_session *s);

// SPDX-License-Identifier: Apache-2.0
/* config_man.h - manual pages in the man(7) macros. */
#pragma once

#include "lib/config/config_args.h"

void config_man_program(const struct config_program *p, const struct config_command *commands,
			size_t n, FILE *out);
void config_man_file(const struct config_program *p, FILE *out);
